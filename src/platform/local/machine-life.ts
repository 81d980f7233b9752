// Starting and stopping one machine whose folder exists. Each function first looks, then acts; doing it twice is fine.
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { firstBootStatusPath } from '../../node-software/first-boot/status.ts';
import { workflowErrors } from '../../workflow/errors.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { platformErrors } from '../errors.ts';
import type { Machine } from '../machine.ts';
import { removeGroup } from './cgroups.ts';
import { machineGroup, machinePaths, nspawnName, unitName } from './cluster-folder.ts';
import { findProcesses, hasProcesses, type MachineProcesses, readFirstBoot } from './observed-machine.ts';
import type { MachinePlan } from './plan.ts';
import { runProgram } from './run-program.ts';
import { rebootStatus, startScript } from './start-script.ts';

/** What systemd as process 1 does on these (systemd(1), SIGNALS): SIGRTMIN is 34 in glibc's numbering. */
const haltSignal = 34 + 3;
const rebootSignal = 34 + 5;

export interface LifeContext {
  readonly host: Host;
  readonly cluster: string;
  readonly plan: MachinePlan;
  readonly signal: AbortSignal;
}

/** Its namespace must exist and nothing of it may be running. Returns when its supervisor runs. */
export async function launchMachine(context: LifeContext, machine: Machine): Promise<void> {
  const { host, cluster, plan } = context;
  const paths = machinePaths(cluster, machine.name);
  await forgetFailedFirstBoot(host, cluster, machine.name);
  const script = startScript({ cluster, machine, plan });
  await host.files.write(paths.startScript, script, { mode: 0o700, isDurable: false });
  // Mounts made by the script stay in its own mount namespace and vanish with it. `slave`, not `private`: a namespace
  // of another cluster that is removed later must not live on in our copy of the mount table.
  const command = ['unshare', '--mount', '--propagation', 'slave', 'sh', paths.startScript] as const;
  if (plan.supervisor === 'session') {
    const [program, ...args] = command;
    await host.processes.startDetached(program, args, { cwd: '/', logPath: paths.consoleLog });
    return;
  }
  await runProgram(host, ['systemd-run', ...unitOptions(cluster, machine.name), '--', ...command]);
}

/** First boot begins anew where it did not end; what it said in an earlier life is not true any more. */
async function forgetFailedFirstBoot(host: Host, cluster: string, machine: string): Promise<void> {
  const status = await readFirstBoot(host, cluster, machine);
  if (status?.phase === 'done') return;
  await host.files.remove(`${machinePaths(cluster, machine).upper}${firstBootStatusPath}`);
}

/** The same as systemd's own systemd-nspawn@.service sets. */
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
export async function stopMachine(context: LifeContext, machine: string, graceMs: number): Promise<void> {
  const { host, cluster } = context;
  const seen = await findProcesses(host, cluster, machine);
  if (seen.leader === undefined) return killMachine(context, machine);
  host.processes.kill(seen.leader, haltSignal);
  await waitForEnd(context, machine, graceMs).catch((error: unknown) => {
    if (!isError(error, workflowErrors.DEADLINE)) throw error;
  });
  await killMachine(context, machine);
}

/** Ends every process of a machine at once: the supervisor first, so that it does not start another life. */
export async function killMachine(context: LifeContext, machine: string): Promise<void> {
  const { host, cluster, plan } = context;
  if (plan.supervisor === 'systemd-unit') {
    const unit = unitName(cluster, machine);
    await host.processes.run('systemctl', ['kill', '--signal=SIGKILL', unit], { timeoutMs: 10_000 });
    await host.processes.run('systemctl', ['stop', unit], { timeoutMs: 30_000 });
  }
  const seen = await findProcesses(host, cluster, machine);
  const lock = await nspawnLock(host, cluster, machine, seen);
  for (const pid of [seen.supervisor, seen.nspawn, seen.leader]) {
    if (pid !== undefined) host.processes.kill(pid, 'SIGKILL');
  }
  if (hasProcesses(seen)) await waitForEnd(context, machine, 20_000);
  await removeGroup(context, machineGroup(cluster, machine));
  // nspawn removes these itself, unless it was killed or /run is an ordinary disk.
  await host.files.remove(`/run/systemd/nspawn/propagate/${nspawnName(cluster, machine)}`);
  if (lock !== undefined) await host.files.remove(lock);
}

/** nspawn locks the folder it runs, by device and inode as seen from its own mounts. */
async function nspawnLock(
  host: Host,
  cluster: string,
  machine: string,
  { nspawn }: MachineProcesses,
): Promise<string | undefined> {
  if (nspawn === undefined) return undefined;
  const root = await host.files.facts(`/proc/${nspawn}/root${machinePaths(cluster, machine).root}`);
  return root === undefined ? undefined : `/run/systemd/nspawn/locks/inode-${root.identity}`;
}

async function waitForEnd(context: LifeContext, machine: string, deadlineMs: number): Promise<void> {
  const { host, cluster, signal } = context;
  await waitUntil({
    clock: host.clock,
    what: `the end of machine ${machine}`,
    deadlineMs,
    everyMs: 25,
    signal,
    probe: async () => {
      const left = await findProcesses(host, cluster, machine);
      if (!hasProcesses(left)) return { status: 'ready', value: undefined };
      return { status: 'waiting', missing: [describeProcesses(left)] };
    },
  });
}

function describeProcesses(processes: MachineProcesses): string {
  const names = Object.entries(processes).map(([name, pid]) => `${name} ${pid}`);
  return `still alive: ${names.join(', ')}`;
}

/** Asks systemd inside to reboot; returns when another process 1 has taken over. */
export async function rebootMachine(context: LifeContext, machine: string, deadlineMs: number): Promise<void> {
  const { host, cluster, signal } = context;
  const { leader } = await findProcesses(host, cluster, machine);
  if (leader === undefined) throw platformErrors.NOT_RUNNING({ machine, state: 'stopped' });
  host.processes.kill(leader, rebootSignal);
  await waitUntil({
    clock: host.clock,
    what: `the reboot of machine ${machine}`,
    deadlineMs,
    everyMs: 50,
    signal,
    probe: async () => {
      const seen = await findProcesses(host, cluster, machine);
      if (seen.leader !== undefined && seen.leader !== leader) return { status: 'ready', value: undefined };
      if (!hasProcesses(seen))
        throw platformErrors.NOT_RUNNING({ machine, state: 'stopped after it was asked to reboot' });
      return {
        status: 'waiting',
        missing: [seen.leader === leader ? 'systemd still stops its units' : 'its next life'],
      };
    },
  });
}
