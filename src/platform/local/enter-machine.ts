// Going into a machine, and reading its journal when it is not running.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import type { RunOptions, RunResult } from '../../host/processes.ts';
import { platformErrors } from '../errors.ts';
import { machinePaths } from './cluster-folder.ts';
import { insideCommand } from './inside.ts';
import { readMachine } from './machine-folder.ts';
import { findProcesses } from './observed-machine.ts';

/** Process 1 of a machine that runs. */
export async function machineLeader(host: Host, cluster: string, machine: string): Promise<number> {
  if ((await readMachine(host, cluster, machine)) === undefined) throw platformErrors.NO_MACHINE({ machine, cluster });
  const { leader } = await findProcesses(host, cluster, machine);
  if (leader === undefined) throw platformErrors.NOT_RUNNING({ machine, state: 'not running' });
  return leader;
}

export interface InsideOptions extends RunOptions {
  readonly cluster: string;
  readonly machine: string;
}

/** Runs a command inside a machine, as root. */
export async function execute(host: Host, command: readonly string[], options: InsideOptions): Promise<RunResult> {
  const leader = await machineLeader(host, options.cluster, options.machine);
  const [program, ...args] = insideCommand(leader, command);
  return host.processes.run(program, args, options);
}

export interface JournalRequest {
  readonly cluster: string;
  readonly machine: string;
  readonly units: readonly string[];
  readonly lines: number;
  readonly isFollowing: boolean;
  readonly format: 'short-precise' | 'json';
}

/** The command line that prints a machine's journal: from inside while it runs, from its files when it does not. */
export async function journalCommand(host: Host, request: JournalRequest): Promise<readonly [string, ...string[]]> {
  const { cluster, machine } = request;
  const known = await readMachine(host, cluster, machine);
  if (known === undefined) throw platformErrors.NO_MACHINE({ machine, cluster });
  const filters = [
    '--no-pager',
    `--output=${request.format}`,
    `--lines=${request.lines}`,
    ...request.units.map((unit) => `--unit=${unit}`),
    ...(request.isFollowing ? ['--follow'] : []),
  ];
  const { leader } = await findProcesses(host, cluster, machine);
  if (leader !== undefined) return insideCommand(leader, ['journalctl', ...filters]);
  const folder = join(machinePaths(cluster, machine).upper, 'var/log/journal', known.machineId);
  return ['journalctl', `--directory=${folder}`, ...filters];
}
