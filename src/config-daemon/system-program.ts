// Programs of the operating system that a change calls. A failure is an error that names the command and its reason.
import type { Host } from '../host/host.ts';
import { configDaemonErrors } from './errors.ts';

export async function runSystemProgram(
  { processes }: Host,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<void> {
  const { code, stderr, stdout } = await processes.run(program, args, {
    timeoutMs: 60_000,
    ...(input === undefined ? {} : { input }),
  });
  if (code === 0) return;
  throw configDaemonErrors.SYSTEM({ command: [program, ...args].join(' '), reason: (stderr || stdout).trim() });
}
