// Starts, stops and reboots one machine whose folder exists. Each function first looks and then acts, so that calling
// it twice does no harm.
import { waitingFor } from '../../contract/missing.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { workflowErrors } from '../../workflow/errors.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { platformErrors } from '../errors.ts';
import { removeGroup } from './cgroups.ts';
import { machineGroup, machinePaths, nspawnName, unitName } from './cluster-folder.ts';
import type { LocalMachine } from './local-machine.ts';
import { findProcesses, hasProcesses, type MachineProcesses } from './observe-machines.ts';
import { hasRecord, type OwnProcess, signalProcess } from './own-process.ts';
import type { MachinePlan } from './plan.ts';
import { runProgram } from './run-program.ts';
import { rebootStatus, startScript } from './start-script.ts';

/** What systemd as process 1 does on these (systemd(1), SIGNALS): SIGRTMIN is 34 in glibc's numbering. */
const haltSignal = 34 + 3;
const rebootSignal = 34 + 5;

export interface PowerContext {
  readonly host: Host;
  readonly cluster: string;
  readonly plan: MachinePlan;
  readonly signal: AbortSignal;
}

/** Its root and its namespace must exist and nothing of it may be running. Returns when its supervisor runs. */
export async function launchMachine(context: PowerContext, machine: LocalMachine): Promise<void> {
  const { host, cluster, plan } = context;
  const paths = machinePaths(cluster, machine.name);
  const script = startScript({ cluster, machine, plan });
  // What an earlier life left without a record, such as one of a version that kept none, must not run beside this one.
  await removeGroup(context, machineGroup(cluster, machine.name));
  for (const record of [paths.supervisorRecord, paths.nspawnRecord]) await host.files.remove(record);
  await host.files.write(paths.startScript, script, { mode: 0o700, isDurable: false });
  // Mounts made by the script stay in its own mount namespace and vanish with it. `slave`, not `private`: a network
  // namespace of another cluster that is removed later must also vanish from this copy of the mount table.
  const command = ['unshare', '--mount', '--propagation', 'slave', 'sh', paths.startScript] as const;
  if (plan.supervisor === 'session') {
    const [program, ...args] = command;
    const pid = await host.processes.startDetached(program, args, { cwd: '/', logPath: paths.consoleLog });
    return waitForRecord(context, machine.name, () => host.processes.isAlive(pid));
  }
  await runProgram(host, ['systemd-run', ...unitOptions(cluster, machine.name), '--', ...command]);
  await waitForRecord(context, machine.name, () => true);
}

/** From then on every command can see that the machine was started. A script that has ended will write no record. */
async function waitForRecord(context: PowerContext, machine: string, isAlive: () => boolean): Promise<void> {
  const { host, cluster, signal } = context;
  const { supervisorRecord } = machinePaths(cluster, machine);
  await waitUntil({
    clock: host.clock,
    what: `the start of machine ${machine}`,
    deadlineMs: 10_000,
    everyMs: 5,
    signal,
    probe: async () => {
      if ((await hasRecord(host.files, supervisorRecord)) || !isAlive()) return { status: 'ready', value: undefined };
      return { status: 'waiting', missing: [waitingFor('the start script', 'has not recorded itself')] };
    },
  });
}

/** As in systemd's own systemd-nspawn@.service. */
function unitOptions(cluster: string, machine: string): readonly string[] {
  const properties = [
    'Slice=machine.slice',
    'Delegate=yes',
    'KillMode=mixed',
    'TasksMax=16384',
    `RestartForceExitStatus=${rebootStatus}`,
    `SuccessExitStatus=${rebootStatus}`,
    `StandardOutput=append:${machinePaths(cluster, machine).consoleLog}`,
    `StandardError=append:${machinePaths(cluster, machine).consoleLog}`,
  ];
  return [
    `--unit=${unitName(cluster, machine)}`,
    '--collect',
    ...properties.map((property) => `--property=${property}`),
  ];
}

/** Asks systemd inside to halt, and ends it by force after `graceMs`. */
export async function stopMachine(context: PowerContext, machine: string, graceMs: number): Promise<void> {
  const { host, cluster } = context;
  const seen = await findProcesses(host, cluster, machine);
  if (seen.leader === undefined) return killMachine(context, machine);
  await signalProcess(host, seen.leader, haltSignal);
  await waitForEnd(context, machine, { deadlineMs: graceMs }).catch(unlessLate(async () => {}));
  await killMachine(context, machine);
}

/** nspawn cleans up after a machine whose process 1 is gone, so it is killed only when it does not end by itself. */
const nspawnGraceMs = 5_000;

/** Ends a machine at once: the supervisor first, so that it does not start the machine again. */
export async function killMachine(context: PowerContext, machine: string): Promise<void> {
  const { host, cluster, plan } = context;
  const { supervisor } = await findProcesses(host, cluster, machine);
  if (supervisor !== undefined) await signalProcess(host, supervisor, 'SIGKILL');
  // At every look, because nspawn may be about to start process 1.
  const endLeader = async ({ leader }: MachineProcesses): Promise<void> => {
    if (leader !== undefined) await signalProcess(host, leader, 'SIGKILL');
  };
  await waitForEnd(context, machine, { deadlineMs: nspawnGraceMs, onSeen: endLeader }).catch(
    unlessLate(() => killAll(context, machine)),
  );
  if (plan.supervisor === 'systemd-unit') {
    await host.processes.run('systemctl', ['stop', unitName(cluster, machine)], { timeoutMs: 30_000 });
  }
  await removeGroup(context, machineGroup(cluster, machine));
  // nspawn leaves this folder behind where /run is an ordinary disk.
  await host.files.remove(`/run/systemd/nspawn/propagate/${nspawnName(cluster, machine)}`);
}

async function killAll(context: PowerContext, machine: string): Promise<void> {
  const { host, cluster } = context;
  const seen = await findProcesses(host, cluster, machine);
  // nspawn locks the folder it runs, by device and inode as seen from its own mounts.
  const root = `/proc/${seen.nspawn?.pid ?? 'self'}/root${machinePaths(cluster, machine).root}`;
  const identity = (await host.files.facts(root))?.identity;
  for (const process of [seen.supervisor, seen.nspawn, seen.leader]) {
    if (process !== undefined) await signalProcess(host, process, 'SIGKILL');
  }
  await waitForEnd(context, machine, { deadlineMs: 20_000 });
  if (identity !== undefined) await host.files.remove(`/run/systemd/nspawn/locks/inode-${identity}`);
}

/** Runs `then` when a wait reached its deadline; throws every other failure again. */
function unlessLate(then: () => Promise<void>): (error: unknown) => Promise<void> {
  return async (error) => {
    if (!isError(error, workflowErrors.DEADLINE)) throw error;
    await then();
  };
}

interface EndWait {
  readonly deadlineMs: number;
  readonly onSeen?: (processes: MachineProcesses) => Promise<void>;
}

async function waitForEnd({ host, cluster, signal }: PowerContext, machine: string, wait: EndWait): Promise<void> {
  await waitUntil({
    clock: host.clock,
    what: `the end of machine ${machine}`,
    deadlineMs: wait.deadlineMs,
    everyMs: 25,
    signal,
    probe: async () => {
      const left = await findProcesses(host, cluster, machine);
      if (!hasProcesses(left)) return { status: 'ready', value: undefined };
      await wait.onSeen?.(left);
      return { status: 'waiting', missing: [waitingFor(describeProcesses(left))] };
    },
  });
}

function describeProcesses(processes: MachineProcesses): string {
  const names = Object.entries(processes).map(([name, { pid }]: [string, OwnProcess]) => `${name} ${pid}`);
  return `still alive: ${names.join(', ')}`;
}

/** Asks systemd inside to reboot; returns when there is a new process 1. */
export async function rebootMachine(context: PowerContext, machine: string, deadlineMs: number): Promise<void> {
  const { host, cluster, plan, signal } = context;
  const { leader } = await findProcesses(host, cluster, machine);
  if (leader === undefined) throw platformErrors.NOT_RUNNING({ machine, state: 'stopped' });
  await signalProcess(host, leader, rebootSignal);
  await waitUntil({
    clock: host.clock,
    what: `the reboot of machine ${machine}`,
    deadlineMs,
    everyMs: 50,
    signal,
    probe: async () => {
      const seen = await findProcesses(host, cluster, machine);
      const isSame = seen.leader?.pid === leader.pid && seen.leader.startTime === leader.startTime;
      if (seen.leader !== undefined && !isSame) return { status: 'ready', value: undefined };
      // During a reboot a unit of the host's systemd has no process for a moment; the start script always has one.
      if (!hasProcesses(seen) && plan.supervisor === 'session') {
        throw platformErrors.NOT_RUNNING({ machine, state: 'stopped after it was asked to reboot' });
      }
      return {
        status: 'waiting',
        missing: [waitingFor(isSame ? 'systemd still stops its units' : 'its next life')],
      };
    },
  });
}
