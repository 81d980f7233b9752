// The Go that compiles the parts, found once per run, and the modules that it linked into a binary.
import type { Host } from '../../host/host.ts';
import type { Processes } from '../../host/processes.ts';

export interface GoFound {
  readonly program: string;
  readonly version: string;
  /** The GOTOOLCHAIN setting of the user; empty if Go is too old to have it. */
  readonly setting: string;
}

export type GoChoice =
  | { readonly status: 'ready'; readonly program: string; readonly version: string; readonly toolchain: string }
  | { readonly status: 'too-old'; readonly found: string; readonly setting: string }
  | { readonly status: 'missing' };

export async function findGo(host: Host): Promise<GoFound | undefined> {
  const program = (await host.processes.find('go')) ?? (await host.processes.find('/usr/local/go/bin/go'));
  if (program === undefined) return undefined;
  // In a folder without a go.mod, which could make Go switch to another version first.
  const asked = await host.processes.run(program, ['env', 'GOVERSION', 'GOTOOLCHAIN'], { cwd: '/', timeoutMs: 20_000 });
  const [version = '', setting = ''] = asked.stdout.split('\n');
  return { program, version: version.replace(/^go/, '').replace(/ .*$/, ''), setting };
}

/** The installed Go if it is new enough; else it fetches the needed one, if the user's setting allows that. */
export function chooseGo(found: GoFound | undefined, needed: string): GoChoice {
  if (found === undefined) return { status: 'missing' };
  const { program, version, setting } = found;
  if (compareVersions(version, needed) >= 0) return { status: 'ready', program, version, toolchain: 'local' };
  // `auto` and `go1.x+auto` fetch; `local`, `path` and a fixed name do not. Go before 1.21 cannot fetch.
  const mayFetch = setting === 'auto' || setting.endsWith('+auto');
  if (!mayFetch) return { status: 'too-old', found: version, setting };
  return { status: 'ready', program, version: needed, toolchain: `go${needed}` };
}

export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  for (let at = 0; at < 3; at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbers(version: string): readonly number[] {
  return (/^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? []).slice(1).map((text) => Number(text ?? 0));
}

export interface GoModule {
  readonly path: string;
  readonly version: string;
  /** `h1:…`, as in go.sum; empty for the main module. */
  readonly sum: string;
}

/** Read from the binaries themselves (`go version -m`), because go.mod also lists modules that are not linked. */
export async function linkedModules(
  processes: Processes,
  go: string,
  binaries: readonly string[],
): Promise<readonly GoModule[]> {
  const { stdout } = await processes.run(go, ['version', '-m', ...binaries], { timeoutMs: 60_000 });
  return parseModules(stdout);
}

/** Sorted and unique. A replaced module is listed as its replacement. */
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
