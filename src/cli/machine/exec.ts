// `firstlight machine exec` and `firstlight machine shell`: the caller's own terminal, inside a machine.
import { machineLeader } from '../../platform/local/enter-machine.ts';
import { insideCommand } from '../../platform/local/inside.ts';
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
  const { host } = invocation;
  const leader = await machineLeader(host, await chosenCluster(invocation), machine);
  const terminal = host.environment.variables['TERM'] ?? 'dumb';
  const [program, ...args] = insideCommand(leader, command, { TERM: terminal });
  const result = await host.processes.runInteractive(program, args, { signal: invocation.signal });
  return { data: { code: result.code }, text: '', exit: result.code ?? 1 };
}

async function capture(invocation: Invocation, machine: string, command: readonly string[]): Promise<CommandResult> {
  const { host } = invocation;
  const leader = await machineLeader(host, await chosenCluster(invocation), machine);
  const [program, ...args] = insideCommand(leader, command);
  const { code, stdout, stderr } = await host.processes.run(program, args, { signal: invocation.signal });
  return { data: { code, stdout, stderr }, text: stdout, exit: code ?? 1 };
}
