// Runs a system program whose failure is an error of the platform; the error contains the last lines of its output.
import type { Host } from '../../host/host.ts';
import type { RunOptions, RunResult } from '../../host/processes.ts';
import { platformErrors } from '../errors.ts';

export async function runProgram(
  host: Host,
  command: readonly [string, ...string[]],
  options: RunOptions = {},
): Promise<RunResult> {
  const [program, ...args] = command;
  const result = await host.processes.run(program, args, { timeoutMs: 30_000, ...options });
  if (result.code === 0) return result;
  const output = (result.stderr.trim() || result.stdout.trim()).split('\n').slice(-3).join(' ');
  const reason = result.timedOut
    ? 'no end in sight after its deadline'
    : output || `exit status ${result.code ?? result.signal}`;
  throw platformErrors.COMMAND({ command: command.join(' '), reason });
}
