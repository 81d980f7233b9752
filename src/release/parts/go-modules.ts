// Which Go modules are linked into binaries, as the binaries themselves say (`go version -m`), not as a go.mod hopes.
import type { Processes } from '../../host/processes.ts';

export interface GoModule {
  readonly path: string;
  readonly version: string;
  /** `h1:…`, as in go.sum; empty for the main module. */
  readonly sum: string;
}

export async function linkedModules(
  processes: Processes,
  go: string,
  binaries: readonly string[],
): Promise<readonly GoModule[]> {
  const { stdout } = await processes.run(go, ['version', '-m', ...binaries], { timeoutMs: 60_000 });
  return parseModules(stdout);
}

/** Sorted, each once. A replaced module counts as what replaced it. */
export function parseModules(text: string): readonly GoModule[] {
  const found = new Map<string, GoModule>();
  let last: string | undefined;
  for (const line of text.split('\n')) {
    const [, kind, path, version = '', sum = ''] = line.split('\t');
    if (path === undefined || (kind !== 'dep' && kind !== '=>')) continue;
    if (kind === '=>' && last !== undefined) found.delete(last);
    last = `${path}@${version}`;
    found.set(last, { path, version, sum });
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}
