// Makes, starts, stops and destroys machines on this host. Every operation first looks at what is there and then does
// what is missing, so the same command repairs after a crash. What runs is read from the kernel each time.
import { machineStateFolder } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import { controlPlaneStopSeconds } from '../../machine-software/node-units.ts';
import { platformErrors } from '../errors.ts';
import type { ChangeContext, MachinesRequest } from '../platform.ts';
import { assignMachines, checkNames } from './assign-machines.ts';
import { removeEmptyGroups, removeGroup } from './cgroups.ts';
import { clusterFolder, clusterGroup, machineNamespace, stateFolder } from './cluster-folder.ts';
import { ensureCluster, type LocalCluster, networkOf, readLocalCluster, withClusterLock } from './local-cluster.ts';
import type { LocalMachine } from './local-machine.ts';
import {
  makeMachineFolder,
  prepareRoot,
  readMachines,
  removeMachineFolder,
  removeUnfinishedMachines,
} from './machine-folder.ts';
import { killMachine, launchMachine, type PowerContext, rebootMachine, stopMachine } from './machine-power.ts';
import {
  ensureMachinePort,
  ensureSwitch,
  listNamespaces,
  removeNamespace,
  removeNamespaceFolder,
} from './network-namespaces.ts';
import { findProcesses, hasProcesses } from './observe-machines.ts';
import { prepareHost } from './prepare-host.ts';
import { ensureSwitchServices, stopSwitchServices } from './switch-services.ts';

export interface LocalContext extends ChangeContext {
  readonly host: Host;
}

/** Makes what is missing of these machines and starts them; does not wait for them to boot. */
export async function createMachines(context: LocalContext, request: MachinesRequest): Promise<LocalCluster> {
  const { host } = context;
  const name = request.cluster.name;
  checkNames(name, request.machines);
  if ((await host.files.facts(`${request.image.rootFolder}/usr`)) === undefined) {
    throw platformErrors.NO_IMAGE({ path: request.image.rootFolder });
  }
  const plan = await prepareHost(host, context, request.machines.length);
  return locked(context, name, 'machine create', async () => {
    const { coredns } = request.image;
    const cluster = await ensureCluster(host, {
      ...request.cluster,
      coredns,
      purpose: 'machine create',
      signal: context.signal,
    });
    await removeUnfinishedMachines(host, name);
    const existing = await readMachines(host, name);
    const network = networkOf(cluster);
    const requests = request.machines;
    const machines = assignMachines({ network, existing, requests, image: request.image, random: host.random });
    await ensureSwitch(host, name, network);
    const life = { ...context, cluster: name, plan };
    const missing = machines.filter((machine) => !existing.some((other) => other.name === machine.name));
    await all([
      ensureSwitchServices({ ...context, cluster, machines: [...existing, ...missing] }),
      ...machines.map(async (machine) => {
        const asked = request.machines.find((candidate) => candidate.name === machine.name);
        if (missing.includes(machine) && asked !== undefined) {
          const { ignition } = asked;
          await makeMachineFolder(host, { cluster: name, machine, image: request.image, network, ignition });
        }
        await ensureStarted(life, cluster, machine);
      }),
    ]);
    return cluster;
  });
}

async function ensureStarted(life: PowerContext, cluster: LocalCluster, machine: LocalMachine): Promise<void> {
  const { host } = life;
  if (hasProcesses(await findProcesses(host, cluster.name, machine.name))) return;
  const { rootFolder, containerdSeed = rootFolder } = machine.image;
  for (const path of [rootFolder, containerdSeed]) {
    if ((await host.files.facts(path)) === undefined) throw platformErrors.NO_IMAGE({ path });
  }
  const { name, address } = machine;
  const network = networkOf(cluster);
  await prepareRoot(host, { cluster: cluster.name, machine, domain: cluster.domain, network });
  await ensureMachinePort(host, { cluster: cluster.name, machine: name, address, network });
  await launchMachine(life, machine);
}

/** Starts machines that exist, and the processes of the cluster's network that have ended. */
export async function startMachines(context: LocalContext, cluster: string, names: readonly string[]): Promise<void> {
  await change(context, { cluster, names, purpose: 'machine start' }, async (life, found, machines) => {
    await ensureSwitch(context.host, cluster, networkOf(found));
    const everyone = await readMachines(context.host, cluster);
    await all([
      ensureSwitchServices({ ...context, cluster: found, machines: everyone }),
      ...machines.map((machine) => ensureStarted(life, found, machine)),
    ]);
  });
}

/** A master ends its control plane in order, which may take as long as its unit says; all else takes seconds. */
const stopGraceMs = controlPlaneStopSeconds * 1000 + 10_000;

export async function stopMachines(context: LocalContext, cluster: string, names: readonly string[]): Promise<void> {
  await change(context, { cluster, names, purpose: 'machine stop' }, (life, _, machines) =>
    all(machines.map((machine) => stopMachine(life, machine.name, stopGraceMs))),
  );
}

/** The same, and the start of the next life. */
const rebootDeadlineMs = stopGraceMs + 10_000;

export async function rebootMachines(context: LocalContext, cluster: string, names: readonly string[]): Promise<void> {
  await change(context, { cluster, names, purpose: 'machine reboot' }, (life, _, machines) =>
    all(machines.map((machine) => rebootMachine(life, machine.name, rebootDeadlineMs))),
  );
}

/** Removes machines and all their files. The cluster is removed with its last machine. */
export async function destroyMachines(context: LocalContext, cluster: string, names: readonly string[]): Promise<void> {
  await change(context, { cluster, names, purpose: 'machine destroy' }, async (life, found, machines) => {
    await all(machines.map((machine) => destroyMachine(life, machine.name)));
    const left = await readMachines(context.host, cluster);
    if (left.length === 0) await removeCluster(life);
    else await ensureSwitchServices({ ...context, cluster: found, machines: left });
  });
}

/** Removes a whole cluster, also one that was never completed. It is no mistake when nothing is there. */
export async function destroyCluster(context: LocalContext, cluster: string): Promise<void> {
  const { host } = context;
  const remains = [await host.files.facts(clusterFolder(cluster)), ...(await listNamespaces(host, cluster))];
  if (remains.every((remain) => remain === undefined)) return;
  const plan = await prepareHost(host, context, 0);
  await locked(context, cluster, 'machine destroy', async () => {
    const life = { ...context, cluster, plan };
    const machines = await readMachines(host, cluster);
    await all(machines.map((machine) => destroyMachine(life, machine.name)));
    await removeCluster(life);
  });
}

async function destroyMachine(life: PowerContext, machine: string): Promise<void> {
  await killMachine(life, machine);
  await removeNamespace(life.host, machineNamespace(life.cluster, machine));
  await removeMachineFolder(life.host, life.cluster, machine);
}

async function removeCluster(life: PowerContext): Promise<void> {
  const { host, cluster, signal } = life;
  await stopSwitchServices(host, cluster, signal);
  await removeGroup(life, clusterGroup(cluster));
  await removeEmptyGroups(life, clusterGroup(cluster));
  for (const namespace of await listNamespaces(host, cluster)) await removeNamespace(host, namespace);
  await removeNamespaceFolder(host);
  await host.files.remove(clusterFolder(cluster));
  // The folders above it are removed with the last cluster: rmdir keeps them while another cluster is being made.
  await host.processes.run('rmdir', [stateFolder, machineStateFolder], { timeoutMs: 10_000 });
}

interface Change {
  readonly cluster: string;
  readonly names: readonly string[];
  readonly purpose: string;
}

async function change(
  context: LocalContext,
  { cluster, names, purpose }: Change,
  work: (life: PowerContext, cluster: LocalCluster, machines: readonly LocalMachine[]) => Promise<void>,
): Promise<void> {
  const { host } = context;
  if ((await readLocalCluster(host, cluster)) === undefined) {
    throw platformErrors.NO_MACHINE({ machine: names[0] ?? '', cluster });
  }
  const plan = await prepareHost(host, context, 0);
  await locked(context, cluster, purpose, async () => {
    const found = await readLocalCluster(host, cluster);
    await removeUnfinishedMachines(host, cluster);
    const machines = await readMachines(host, cluster);
    const chosen = names.map((name) => {
      const machine = machines.find((candidate) => candidate.name === name);
      if (machine === undefined) throw platformErrors.NO_MACHINE({ machine: name, cluster });
      return machine;
    });
    if (found !== undefined) await work({ ...context, cluster, plan }, found, chosen);
  });
}

function locked<T>(context: LocalContext, cluster: string, purpose: string, work: () => Promise<T>): Promise<T> {
  return withClusterLock(context.host, { cluster, purpose, signal: context.signal }, work);
}

/** Waits for all of it before it throws the first failure, so that nothing still runs when the caller goes on. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
