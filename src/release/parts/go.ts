// Which Go compiles the parts. Asked once per run; what to do about it is a pure function of the answer.
import type { Host } from '../../host/host.ts';

export interface GoFound {
  readonly program: string;
  readonly version: string;
  /** The person's GOTOOLCHAIN setting; empty where Go is too old to know it. */
  readonly setting: string;
}

export type GoChoice =
  | { readonly status: 'ready'; readonly program: string; readonly version: string; readonly toolchain: string }
  | { readonly status: 'too-old'; readonly found: string; readonly setting: string }
  | { readonly status: 'missing' };

export async function findGo(host: Host): Promise<GoFound | undefined> {
  const program = (await host.processes.find('go')) ?? (await host.processes.find('/usr/local/go/bin/go'));
  if (program === undefined) return undefined;
  // Outside every module, so that no go.mod above us makes Go switch before it answers.
  const asked = await host.processes.run(program, ['env', 'GOVERSION', 'GOTOOLCHAIN'], { cwd: '/', timeoutMs: 20_000 });
  const [version = '', setting = ''] = asked.stdout.split('\n');
  return { program, version: version.replace(/^go/, '').replace(/ .*$/, ''), setting };
}

/** Use the installed Go when it is new enough; else let it fetch the one we name, if its owner allows that. */
export function chooseGo(found: GoFound | undefined, needed: string): GoChoice {
  if (found === undefined) return { status: 'missing' };
  const { program, version, setting } = found;
  if (compareVersions(version, needed) >= 0) return { status: 'ready', program, version, toolchain: 'local' };
  // `auto` and `go1.x+auto` fetch; `local`, `path` and a fixed name do not. Before Go 1.21 there is no such thing.
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
