// Whether the package repositories of a host answer: its own package manager reads their indexes into a folder that is
// thrown away, so that the indexes of the host stay as they are.
import type { Host } from '../../host/host.ts';
import type { BrokenRepository } from './facts.ts';

const timeoutMs = 120_000;

interface PackageManager {
  readonly program: string;
  readonly args: (scratch: string) => readonly string[];
  /** From its output, when it failed. */
  readonly broken: (output: string) => readonly BrokenRepository[];
}

const aptOptions = [
  'Debug::NoLocking=true',
  'APT::Update::Error-Mode=any',
  'APT::Sandbox::User=root',
  'APT::Update::Post-Invoke-Success::=',
  'Acquire::Languages=none',
  'Acquire::http::Timeout=20',
];

const managers: Readonly<Record<'apt' | 'dnf', PackageManager>> = {
  apt: {
    program: 'apt-get',
    args: (scratch) => [
      ...aptOptions.flatMap((option) => ['-o', option]),
      '-o',
      `Dir::State::lists=${scratch}/lists`,
      '-o',
      `Dir::Cache=${scratch}/cache`,
      'update',
    ],
    broken: (output) => aptFailures(output),
  },
  dnf: {
    program: 'dnf',
    args: (scratch) => [
      '--quiet',
      '--refresh',
      ...['cachedir', 'persistdir', 'logdir'].map((name) => `--setopt=${name}=${scratch}/${name}`),
      '--setopt=timeout=20',
      'makecache',
    ],
    broken: (output) => dnfFailures(output),
  },
};

/** Those that do not answer; empty where all do. */
export async function lookAtRepositories(
  host: Host,
  name: 'apt' | 'dnf',
  signal: AbortSignal,
): Promise<readonly BrokenRepository[]> {
  const { program, args, broken } = managers[name];
  const scratch = await host.files.makeTemporaryFolder('ipb-repositories-');
  try {
    for (const folder of ['lists/partial', 'cache/archives/partial']) {
      if (name === 'apt') await host.files.makeFolder(`${scratch}/${folder}`, { mode: 0o700 });
    }
    const env = { LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
    const { code, stdout, stderr, timedOut } = await host.processes.run(program, args(scratch), {
      timeoutMs,
      env,
      signal,
    });
    if (code === 0) return [];
    if (timedOut) return [{ id: 'all', detail: `no answer within ${timeoutMs / 1000} s` }];
    const found = broken(`${stdout}\n${stderr}`);
    const [last = `${program} failed`] = stderr.trim().split('\n').slice(-1);
    return found.length === 0 ? [{ id: 'all', detail: last }] : found;
  } finally {
    await host.files.remove(scratch);
  }
}

/** `Err:1 http://mirror/debian bookworm InRelease`, and the reason in the next line. */
export function aptFailures(output: string): readonly BrokenRepository[] {
  return [...output.matchAll(/^Err:\d+ (.+)\n\s+(.+)$/gm)].map(([, id = '', detail = '']) => ({
    id: id.replace(/ InRelease$/, ''),
    detail: detail.trim(),
  }));
}

/** `Errors during downloading metadata for repository 'baseos':`, and the reason in the next line. */
export function dnfFailures(output: string): readonly BrokenRepository[] {
  const detailed = /^Errors during downloading metadata for repository '([^']+)':\n\s*-?\s*(.+)$/gm;
  const found = [...output.matchAll(detailed)].map(([, id = '', detail = '']) => ({ id, detail: detail.trim() }));
  const short = /^Error: Failed to download metadata for repo '([^']+)': (.+)$/gm;
  const others = [...output.matchAll(short)].map(([, id = '', detail = '']) => ({ id, detail: detail.trim() }));
  return [...found, ...others.filter(({ id }) => !found.some((one) => one.id === id))];
}
