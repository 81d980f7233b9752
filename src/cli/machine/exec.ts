// `firstlight machine exec` and `firstlight machine shell`: the caller's own terminal, inside a machine.
import { ableTo, type CommandLine, type InsideCommand } from '../../platform/platform.ts';
import type { CommandBody, CommandResult, Invocation } from '../frame/verb.ts';
import { chosenCluster } from './machine-choice.ts';

export const machineExec: CommandBody = async (invocation) => {
  const [machine = '', ...command] = invocation.args;
  return invocation.global.output === 'text'
    ? runThere(invocation, machine, command)
    : capture(invocation, machine, command);
};

export const machineShell: CommandBody = async (invocation) =>
  runThere(invocation, invocation.args[0] ?? '', ['/bin/bash', '--login']);

async function runThere(invocation: Invocation, machine: string, command: readonly string[]): Promise<CommandResult> {
  const { host, signal } = invocation;
  const terminal = host.environment.variables['TERM'] ?? 'dumb';
  const [program, ...args] = await enterLine(invocation, machine, { command, variables: { TERM: terminal } });
  const result = await host.processes.runInteractive(program, args, { signal });
  return { data: { code: result.code }, text: '', exit: result.code ?? 1 };
}

async function capture(invocation: Invocation, machine: string, command: readonly string[]): Promise<CommandResult> {
  const { host, signal } = invocation;
  const [program, ...args] = await enterLine(invocation, machine, { command });
  const { code, stdout, stderr } = await host.processes.run(program, args, { signal });
  return { data: { code, stdout, stderr }, text: stdout, exit: code ?? 1 };
}

async function enterLine(invocation: Invocation, machine: string, command: InsideCommand): Promise<CommandLine> {
  const { platform, cluster } = await chosenCluster(invocation);
  return ableTo(platform, 'commandInside')({ cluster, machine }, command);
}
