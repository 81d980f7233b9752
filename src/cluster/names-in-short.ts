// `bootstrap, master-0..2, worker-0`: neighbours in a row of numbered names as a range.
export function namesInShort(names: readonly string[]): string {
  const runs: { readonly base: string; readonly first: number; last: number }[] = [];
  for (const name of names) {
    const [, base, digits] = /^(.*-)(\d+)$/.exec(name) ?? [];
    const run = runs.at(-1);
    if (base === undefined) runs.push({ base: name, first: -1, last: -1 });
    else if (run?.base === base && run.last + 1 === Number(digits)) run.last += 1;
    else runs.push({ base, first: Number(digits), last: Number(digits) });
  }
  return runs
    .map(({ base, first, last }) => (first < 0 ? base : `${base}${first}${first === last ? '' : `..${last}`}`))
    .join(', ');
}
