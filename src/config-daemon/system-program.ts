// Programs of the operating system that a change calls. A failure is an error that names the command and its reason.
import type { Host } from '../host/host.ts';
import type { RunOptions } from '../host/processes.ts';
import { configDaemonErrors } from './errors.ts';

const timeoutMsDefault = 60_000;

export async function runSystemProgram(
  { processes }: Host,
  program: string,
  args: readonly string[],
  { timeoutMs = timeoutMsDefault, ...options }: Pick<RunOptions, 'input' | 'timeoutMs'> = {},
): Promise<void> {
  const { code, stderr, stdout, timedOut } = await processes.run(program, args, { timeoutMs, ...options });
  if (code === 0) return;
  const reason = timedOut ? `no answer within ${timeoutMs / 1000} s` : (stderr || stdout).trim();
  throw configDaemonErrors.SYSTEM({ command: [program, ...args].join(' '), reason });
}
