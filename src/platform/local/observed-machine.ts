// What a machine is doing right now, read from the kernel and from the files the machine itself writes.
import type { Host } from '../../host/host.ts';
import {
  describeFirstBoot,
  type FirstBootStatus,
  firstBootStatusPath,
  readFirstBootStatus,
} from '../../contract/first-boot-status.ts';
import type { Machine } from '../machine.ts';
import { machinePaths, nspawnName } from './cluster-folder.ts';
import { insideCommand } from './inside.ts';
import { isInitUnder, type ProcessEntry, readProcessTable } from './process-table.ts';

export type MachineState =
  | 'stopped'
  /** Its processes exist; systemd inside has not finished booting. */
  | 'booting'
  /** Ignition is at work or waits for something. */
  | 'first-boot'
  | 'first-boot-failed'
  | 'running'
  /** Booted, but a unit failed. */
  | 'degraded'
  | 'stopping';

export interface ObservedMachine extends Machine {
  readonly state: MachineState;
  /** One line that says more than the state. */
  readonly detail: string;
  readonly processes: MachineProcesses;
  readonly firstBoot?: FirstBootStatus;
}

export interface MachineProcesses {
  /** The start script; absent where the host's systemd supervises. */
  readonly supervisor?: number;
  readonly nspawn?: number;
  /** Process 1 of the machine. */
  readonly leader?: number;
}

export function hasProcesses(processes: MachineProcesses): boolean {
  return processes.supervisor !== undefined || processes.nspawn !== undefined || processes.leader !== undefined;
}

export async function observeMachines(
  host: Host,
  cluster: string,
  machines: readonly Machine[],
): Promise<readonly ObservedMachine[]> {
  const table = await readProcessTable(host.files);
  return Promise.all(
    machines.map(async (machine) => {
      const processes = await findProcesses(host, cluster, machine.name, table);
      return observeMachine(host, cluster, machine, processes);
    }),
  );
}

export async function findProcesses(
  host: Host,
  cluster: string,
  machine: string,
  table?: readonly ProcessEntry[],
): Promise<MachineProcesses> {
  const entries = table ?? (await readProcessTable(host.files));
  const script = machinePaths(cluster, machine).startScript;
  const nameOption = `--machine=${nspawnName(cluster, machine)}`;
  const nspawn = entries.find((entry) => entry.args[0]?.endsWith('systemd-nspawn') && entry.args.includes(nameOption));
  // By program as well, so that somebody who reads the script is left alone.
  const supervisor = entries.find(
    (entry) => /^(?:sh|unshare)$/.test(entry.args[0] ?? '') && entry.args.includes(script),
  );
  const leader = nspawn === undefined ? undefined : await findLeader(host, entries, nspawn.pid);
  return {
    ...(supervisor === undefined ? {} : { supervisor: supervisor.pid }),
    ...(nspawn === undefined ? {} : { nspawn: nspawn.pid }),
    ...(leader === undefined ? {} : { leader }),
  };
}

async function findLeader(host: Host, entries: readonly ProcessEntry[], nspawn: number): Promise<number | undefined> {
  const inits = entries.filter((entry) => /\/(?:systemd|init)$/.test(entry.args[0] ?? ''));
  for (const { pid } of inits) if (await isInitUnder(host.files, pid, nspawn)) return pid;
  return undefined;
}

async function observeMachine(
  host: Host,
  cluster: string,
  machine: Machine,
  processes: MachineProcesses,
): Promise<ObservedMachine> {
  const firstBoot = await readFirstBoot(host, cluster, machine.name);
  const base = { ...machine, processes, ...(firstBoot === undefined ? {} : { firstBoot }) };
  const story = firstBoot === undefined ? 'first boot has not begun' : describeFirstBoot(firstBoot, host.clock.now());
  if (!hasProcesses(processes)) return { ...base, state: 'stopped', detail: story };
  if (processes.leader === undefined) return { ...base, state: 'booting', detail: 'systemd has not started yet' };
  if (firstBoot?.phase === 'failed') return { ...base, state: 'first-boot-failed', detail: story };
  if (firstBoot?.phase !== 'done') return { ...base, state: 'first-boot', detail: story };
  const systemd = await systemdState(host, processes.leader);
  switch (systemd) {
    case 'running':
      return { ...base, state: 'running', detail: story };
    case 'degraded':
      return { ...base, state: 'degraded', detail: await failedUnits(host, processes.leader) };
    case 'stopping':
      return { ...base, state: 'stopping', detail: 'systemd stops its units' };
    default:
      return { ...base, state: 'booting', detail: `systemd says ${systemd}` };
  }
}

export async function readFirstBoot(
  host: Host,
  cluster: string,
  machine: string,
): Promise<FirstBootStatus | undefined> {
  return readFirstBootStatus(host.files, `${machinePaths(cluster, machine).upper}${firstBootStatusPath}`);
}

async function systemdState(host: Host, leader: number): Promise<string> {
  const [program, ...args] = insideCommand(leader, ['systemctl', 'is-system-running']);
  const result = await host.processes.run(program, args, { timeoutMs: 10_000 });
  return result.stdout.trim() || 'nothing yet';
}

async function failedUnits(host: Host, leader: number): Promise<string> {
  const [program, ...args] = insideCommand(leader, ['systemctl', 'list-units', '--failed', '--plain', '--no-legend']);
  const result = await host.processes.run(program, args, { timeoutMs: 10_000 });
  const names = result.stdout.split('\n').flatMap((line) => line.trim().split(/\s+/)[0] || []);
  return `failed units: ${names.join(', ') || 'none any more'}`;
}
