// What a machine does right now, read from the kernel and from the files that the machine itself writes.
import { basename } from 'node:path';
import { describeFirstBoot, firstBootStatusPath, readFirstBootStatus } from '../../contract/first-boot-status.ts';
import type { Host } from '../../host/host.ts';
import type { ObservedMachine } from '../machine.ts';
import { machinePaths } from './cluster-folder.ts';
import { enterCommand } from './enter-command.ts';
import type { LocalMachine } from './local-machine.ts';
import { machineFiles } from './machine-files.ts';
import { readMachines } from './machine-folder.ts';
import { type Child, findInit, type OwnProcess, readRecord } from './own-process.ts';

export interface MachineProcesses {
  /** The start script; absent once it has become nspawn, where the host's systemd supervises. */
  readonly supervisor?: OwnProcess;
  readonly nspawn?: OwnProcess;
  /** Process 1 of the machine, until it is gone. */
  readonly leader?: Child;
}

export function hasProcesses(processes: MachineProcesses): boolean {
  return processes.supervisor !== undefined || processes.nspawn !== undefined || processes.leader !== undefined;
}

export async function observeMachines(host: Host, cluster: string): Promise<readonly ObservedMachine[]> {
  const machines = await readMachines(host, cluster);
  return Promise.all(
    machines.map(async (machine) => {
      const processes = await findProcesses(host, cluster, machine.name);
      return observeMachine(host, cluster, machine, processes);
    }),
  );
}

export async function findProcesses(host: Host, cluster: string, machine: string): Promise<MachineProcesses> {
  const paths = machinePaths(cluster, machine);
  const supervisor = await readRecord(host.files, paths.supervisorRecord);
  const nspawn = await readRecord(host.files, paths.nspawnRecord);
  const leader = nspawn === undefined ? undefined : await findInit(host.files, nspawn);
  return {
    ...(supervisor === undefined || supervisor.pid === nspawn?.pid ? {} : { supervisor }),
    ...(nspawn === undefined ? {} : { nspawn }),
    ...(leader === undefined ? {} : { leader }),
  };
}

/** Process 1 of a machine that commands can be run in: not one that only waits for the last processes to end. */
export function enterableLeader({ leader }: MachineProcesses): OwnProcess | undefined {
  return leader === undefined || isLastProgram(leader) ? undefined : leader;
}

/** systemd becomes this program when all units have ended. */
function isLastProgram({ program }: Child): boolean {
  return basename(program) === 'systemd-shutdown';
}

async function observeMachine(
  host: Host,
  cluster: string,
  machine: LocalMachine,
  processes: MachineProcesses,
): Promise<ObservedMachine> {
  const firstBoot = await readFirstBootStatus(machineFiles(host.files, cluster, machine.name), firstBootStatusPath);
  const { leader } = processes;
  const base = {
    ...machine,
    ...(firstBoot === undefined ? {} : { firstBoot }),
    ...(leader === undefined ? {} : { leaderPid: leader.pid }),
  };
  const firstBootText =
    firstBoot === undefined ? 'first boot has not begun' : describeFirstBoot(firstBoot, host.clock.now());
  if (!hasProcesses(processes)) return { ...base, state: 'stopped', detail: firstBootText };
  if (leader === undefined) return { ...base, state: 'booting', detail: 'systemd has not started yet' };
  if (isLastProgram(leader)) return { ...base, state: 'stopping', detail: 'its last processes end' };
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
      return { ...base, state: 'booting', detail: `systemd says ${systemd}${await unitsThatStart(host, leader)}` };
  }
}

async function systemdState(host: Host, leader: OwnProcess): Promise<string> {
  const [program, ...args] = enterCommand(leader, ['systemctl', 'is-system-running']);
  const result = await host.processes.run(program, args, { timeoutMs: 10_000 });
  return result.stdout.trim() || 'nothing yet';
}

/** A boot is over when these are: a bootstrap that a person holds stays among them. */
async function unitsThatStart(host: Host, leader: OwnProcess): Promise<string> {
  const [program, ...args] = enterCommand(leader, ['systemctl', 'list-jobs', '--plain', '--no-legend']);
  const result = await host.processes.run(program, args, { timeoutMs: 10_000 });
  const jobs = result.stdout.split('\n').map((line) => line.trim().split(/\s+/));
  const names = jobs.flatMap(([, unit = '', , state]) => (state === 'running' ? [unit] : []));
  return names.length === 0 ? '' : `: ${names.join(', ')}`;
}

async function failedUnits(host: Host, leader: OwnProcess): Promise<string> {
  const [program, ...args] = enterCommand(leader, ['systemctl', 'list-units', '--failed', '--plain', '--no-legend']);
  const result = await host.processes.run(program, args, { timeoutMs: 10_000 });
  const names = result.stdout.split('\n').flatMap((line) => line.trim().split(/\s+/)[0] || []);
  return `failed units: ${names.join(', ') || 'none any more'}`;
}
