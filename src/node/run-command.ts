// Runs a program of the machine to its end. If it fails, the error contains what the program wrote to stderr.
import type { Host } from '../host/host.ts';
import { agentErrors } from './errors.ts';

const limitMs = 20_000;

export async function runCommand(host: Host, program: string, args: readonly string[]): Promise<string> {
  const result = await host.processes.run(program, args, { timeoutMs: limitMs });
  if (result.code === 0) return result.stdout;
  const reason = result.timedOut ? `no answer within ${limitMs / 1000} s` : result.stderr.trim();
  throw agentErrors.COMMAND({ command: [program, ...args].join(' '), reason });
}
