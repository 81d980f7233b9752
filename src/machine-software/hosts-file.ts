// The machine's own name in /etc/hosts. The kubelet is linked statically and asks /etc/hosts, then DNS; a name that
// only DNS could answer, and does not, costs three waits of ten seconds at every start.

const marker = '# this machine, by firstlight';

export interface OwnName {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** The file with our lines in place of earlier ones of ours; every other line is kept as it is. */
export function hostsText(before: string, { name, addresses }: OwnName): string {
  const kept = before.split('\n').filter((line) => !line.endsWith(marker));
  while (kept.at(-1) === '') kept.pop();
  const short = name.split('.')[0] ?? name;
  const names = short === name ? name : `${name} ${short}`;
  return [...kept, ...addresses.map((address) => `${address} ${names} ${marker}`), ''].join('\n');
}
