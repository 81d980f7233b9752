// A command inside a machine: on the terminal of the user, or with its output captured. Its exit code becomes ours.
import { ableTo, type CommandLine, type InsideCommand } from '../../platform/platform.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';
import { chosenCluster } from './chosen-machines.ts';

type Call = Invocation<unknown, { readonly cluster: string | undefined }>;

export async function runInside(call: Call, machine: string, command: readonly string[]): Promise<CommandResult> {
  const { host, signal } = call;
  const terminal = host.environment.variables['TERM'] ?? 'dumb';
  const [program, ...args] = await enterLine(call, machine, { command, variables: { TERM: terminal } });
  const result = await host.processes.runInteractive(program, args, { signal });
  return { data: { code: result.code }, text: '', exit: result.code ?? 1 };
}

export async function captureInside(call: Call, machine: string, command: readonly string[]): Promise<CommandResult> {
  const { host, signal } = call;
  const [program, ...args] = await enterLine(call, machine, { command });
  const { code, stdout, stderr } = await host.processes.run(program, args, { signal });
  return { data: { code, stdout, stderr }, text: stdout, exit: code ?? 1 };
}

async function enterLine(call: Call, machine: string, command: InsideCommand): Promise<CommandLine> {
  const { platform, cluster } = await chosenCluster(call);
  return ableTo(platform, 'commandInside')({ cluster, machine }, command);
}
