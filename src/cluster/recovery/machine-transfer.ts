// Programs inside a machine whose input or output is a file of this host. A shell of this host connects the two, so a
// snapshot of gigabytes never passes through the memory of this program.
import type { Host } from '../../host/host.ts';
import type { RunResult } from '../../host/processes.ts';
import { ableTo, type MachineKey, type Platform } from '../../platform/platform.ts';

export interface InsideRun {
  readonly host: Host;
  readonly platform: Platform;
  readonly machine: MachineKey;
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Its output is kept as text. */
export async function runInMachine(run: InsideRun): Promise<RunResult> {
  const { host, platform, machine, command, signal, timeoutMs } = run;
  const [program, ...args] = await ableTo(platform, 'commandInside')(machine, { command });
  return host.processes.run(program, args, { signal, timeoutMs });
}

/** What it prints becomes the file, which must be renamed or removed by the caller. */
export function outputToFile(run: InsideRun, file: string): Promise<RunResult> {
  return redirected(run, 'exec "$@" > "$TRANSFER_FILE"', file);
}

export function inputFromFile(run: InsideRun, file: string): Promise<RunResult> {
  return redirected(run, 'exec "$@" < "$TRANSFER_FILE"', file);
}

async function redirected(run: InsideRun, script: string, file: string): Promise<RunResult> {
  const { host, platform, machine, command, signal, timeoutMs } = run;
  const line = await ableTo(platform, 'commandInside')(machine, { command });
  const args = ['-c', `umask 077; ${script}`, 'sh', ...line];
  return host.processes.run('sh', args, { env: { TRANSFER_FILE: file }, signal, timeoutMs });
}

/** The last line that a program printed about its failure. */
export function failureOf({ code, signal, stderr, timedOut }: RunResult): string {
  if (timedOut) return 'it took too long';
  return stderr.trim().split('\n').at(-1) || `it ended with ${code ?? signal ?? 'nothing'}`;
}
