// Runs the tools of a release build. A tool that fails stops the part with RELEASE_BUILD_FAILED and the end of its
// output, where compilers and packagers state the cause.
import type { Host } from '../../host/host.ts';
import type { RunOptions, RunResult } from '../../host/processes.ts';
import { releaseErrors } from '../errors.ts';

const linesKept = 12;

/** `part` names what is being made in the error message. */
export async function runTool(
  host: Host,
  part: string,
  [program = '', ...args]: readonly string[],
  options: RunOptions,
): Promise<RunResult> {
  const result = await host.processes.run(program, args, options);
  if (result.code !== 0) throw releaseErrors.BUILD_FAILED({ part, reason: endOfOutput(result) });
  return result;
}

export function endOfOutput(result: RunResult): string {
  const text = result.stderr.trim() === '' ? result.stdout : result.stderr;
  const lines = text.trim().split('\n').slice(-linesKept).join('\n');
  const how = result.timedOut
    ? 'it took too long'
    : result.signal === undefined
      ? `exit status ${result.code}`
      : `ended by ${result.signal}`;
  return lines === '' ? how : `${how}\n${lines}`;
}

export interface RootCommand {
  readonly folder: string;
  readonly command: readonly string[];
  readonly part: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Runs a program of a root that is being made, inside that root. */
export async function runInRoot(host: Host, { folder, command, part, env = {}, signal }: RootCommand): Promise<void> {
  await runTool(host, part, ['chroot', folder, ...command], { env, signal, timeoutMs: 60_000 });
}

export interface FolderCopy {
  readonly from: string;
  readonly to: string;
  readonly part: string;
  readonly signal: AbortSignal;
}

/** Copies the content of one folder into another, with owners, modes and links; shares blocks if the disk can. */
export async function copyFolder(host: Host, { from, to, part, signal }: FolderCopy): Promise<void> {
  const command = ['cp', '--archive', '--reflink=auto', '--no-target-directory', from, to];
  await runTool(host, part, command, { signal, timeoutMs: 300_000 });
}
