// Command lines for this host that reach a machine: a command inside it, its journal, the output of the programs that
// run it.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import { platformErrors } from '../errors.ts';
import type { CommandLine, InsideCommand, LogRequest, MachineKey } from '../platform.ts';
import { machinePaths, namespacePath, switchNamespace } from './cluster-folder.ts';
import { enterCommand } from './enter-command.ts';
import type { LocalMachine } from './local-machine.ts';
import { readMachine } from './machine-folder.ts';
import { enterableLeader, findProcesses } from './observe-machines.ts';

export async function commandInside(
  host: Host,
  key: MachineKey,
  { command, variables }: InsideCommand,
): Promise<CommandLine> {
  await mustReadMachine(host, key);
  const processes = await findProcesses(host, key.cluster, key.machine);
  const leader = enterableLeader(processes);
  if (leader === undefined) {
    const state = processes.leader === undefined ? 'not running' : 'stopping';
    throw platformErrors.NOT_RUNNING({ machine: key.machine, state });
  }
  return enterCommand(leader, command, variables);
}

/** The host has no route into the network of a cluster. */
export function commandInNetwork(cluster: string, command: CommandLine): CommandLine {
  return ['nsenter', `--net=${namespacePath(switchNamespace(cluster))}`, ...command];
}

export async function logCommand(host: Host, key: MachineKey, request: LogRequest): Promise<CommandLine> {
  const follow = request.isFollowing ? ['--follow'] : [];
  const lines = `--lines=${request.lines}`;
  if (request.source === 'console') {
    await mustReadMachine(host, key);
    return ['tail', lines, ...follow, machinePaths(key.cluster, key.machine).consoleLog];
  }
  const filters = [
    ...request.units.map((unit) => `--unit=${unit}`),
    ...(request.since === undefined ? [] : [`--since=@${request.since.getTime() / 1000}`]),
    ...(request.isPrevious === true ? ['--boot=-1'] : []),
  ];
  return journalCommand(host, key, ['--no-pager', `--output=${request.format}`, lines, ...filters, ...follow]);
}

/** From inside while the machine runs, from its files when it does not. */
async function journalCommand(host: Host, key: MachineKey, filters: readonly string[]): Promise<CommandLine> {
  const { cluster, machine } = key;
  const known = await mustReadMachine(host, key);
  const leader = enterableLeader(await findProcesses(host, cluster, machine));
  if (leader !== undefined) return enterCommand(leader, ['journalctl', ...filters]);
  const folder = join(machinePaths(cluster, machine).upper, 'var/log/journal', known.machineId);
  return ['journalctl', `--directory=${folder}`, ...filters];
}

async function mustReadMachine(host: Host, { cluster, machine }: MachineKey): Promise<LocalMachine> {
  const known = await readMachine(host, cluster, machine);
  if (known === undefined) throw platformErrors.NO_MACHINE({ machine, cluster });
  return known;
}
