// What a machine does right now, read from the kernel and from the files that the machine itself writes.
import { describeFirstBoot, firstBootStatusPath, readFirstBootStatus } from '../../contract/first-boot-status.ts';
import type { Host } from '../../host/host.ts';
import type { ObservedMachine } from '../machine.ts';
import { machinePaths, nspawnName } from './cluster-folder.ts';
import { enterCommand } from './enter-command.ts';
import type { LocalMachine } from './local-machine.ts';
import { readMachines } from './machine-folder.ts';
import { isInitUnder, type ProcessEntry, readProcessTable } from './process-table.ts';

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

export async function observeMachines(host: Host, cluster: string): Promise<readonly ObservedMachine[]> {
  const machines = await readMachines(host, cluster);
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
  // By program as well, so that an editor or pager that has the script open is not taken for the supervisor.
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
  machine: LocalMachine,
  processes: MachineProcesses,
): Promise<ObservedMachine> {
  const firstBoot = await readFirstBootStatus(
    host.files,
    `${machinePaths(cluster, machine.name).upper}${firstBootStatusPath}`,
  );
  const { leader } = processes;
  const base = {
    ...machine,
    ...(firstBoot === undefined ? {} : { firstBoot }),
    ...(leader === undefined ? {} : { leaderPid: leader }),
  };
  const firstBootText =
    firstBoot === undefined ? 'first boot has not begun' : describeFirstBoot(firstBoot, host.clock.now());
  if (!hasProcesses(processes)) return { ...base, state: 'stopped', detail: firstBootText };
  if (leader === undefined) return { ...base, state: 'booting', detail: 'systemd has not started yet' };
  if (firstBoot?.phase === 'failed') return { ...base, state: 'first-boot-failed', detail: firstBootText };
  if (firstBoot?.phase !== 'done') return { ...base, state: 'first-boot', detail: firstBootText };
  const systemd = await systemdState(host, leader);
  switch (systemd) {
    case 'running':
      return { ...base, state: 'running', detail: firstBootText };
    case 'degraded':
      return { ...base, state: 'degraded', detail: await failedUnits(host, leader) };
    case 'stopping':
      return { ...base, state: 'stopping', detail: 'systemd stops its units' };
    default:
      return { ...base, state: 'booting', detail: `systemd says ${systemd}` };
  }
}

async function systemdState(host: Host, leader: number): Promise<string> {
  const [program, ...args] = enterCommand(leader, ['systemctl', 'is-system-running']);
  const result = await host.processes.run(program, args, { timeoutMs: 10_000 });
  return result.stdout.trim() || 'nothing yet';
}

async function failedUnits(host: Host, leader: number): Promise<string> {
  const [program, ...args] = enterCommand(leader, ['systemctl', 'list-units', '--failed', '--plain', '--no-legend']);
  const result = await host.processes.run(program, args, { timeoutMs: 10_000 });
  const names = result.stdout.split('\n').flatMap((line) => line.trim().split(/\s+/)[0] || []);
  return `failed units: ${names.join(', ') || 'none any more'}`;
}
