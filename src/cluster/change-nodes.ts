// Adds and removes nodes of a finished cluster. A new worker, and a master whose machine was lost, joins like the first
// machines: an entry in the inventory, a machine with a pointer config, a certificate for exactly that name.
import { join } from 'node:path';
import { deleteBootstrapToken, listBootstrapTokens } from '../admission/bootstrap-token-secret.ts';
import { addressAt } from '../assets/cluster-names.ts';
import { systemNamespace } from '../contract/cluster-objects.ts';
import type { Inventory, InventoryMachine } from '../contract/inventory.ts';
import { missingLine, waitingFor } from '../contract/missing.ts';
import { readRange } from '../install-config/cidr.ts';
import { apiPatience } from '../kubernetes/api-patience.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { hasCondition } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { MachineRequest } from '../platform/machine.ts';
import { ableTo } from '../platform/platform.ts';
import { machineImage, partPrograms } from '../release/machine-image.ts';
import { retry } from '../workflow/retry.ts';
import { changeInventory } from './change-inventory.ts';
import { connectCluster, kubeconfigFile } from './cluster-kubeconfig.ts';
import { lookAtNodes } from './cluster-nodes.ts';
import type { ClusterChange } from './destroy.ts';
import { clusterErrors } from './errors.ts';
import { stallWatch } from './explain-stall.ts';
import { type FoundCluster, mustFindOwnMachines } from './find-cluster.ts';
import { laterPointer, mustBeJoinable } from './later-pointer.ts';
import { listVoters } from './status.ts';
import { type ProgressLook, type WaitLimits, waitForProgress } from './wait-for-progress.ts';

const firstWorkerAddress = 21;

interface WorkerPlace {
  /** The machine network. */
  readonly network: string;
  /** A pool of the user's own. */
  readonly pool?: string | undefined;
}

/** New entries for the inventory, each with the next free address of the workers' range. */
export function newWorkers(
  machines: Inventory['machines'],
  names: readonly string[],
  { network, pool }: WorkerPlace,
): readonly InventoryMachine[] {
  const taken = new Set(machines.flatMap(({ addresses }) => addresses));
  const range = readRange(network);
  let offset = firstWorkerAddress;
  return names.map((name) => {
    const present = machines.find((machine) => machine.name === name);
    if (present !== undefined) throw clusterErrors.NODE_EXISTS({ name, role: present.role });
    while (taken.has(addressAt(range, offset))) offset += 1;
    const address = addressAt(range, offset);
    taken.add(address);
    return { name, role: 'worker', addresses: [address], ...(pool === undefined ? {} : { pool }) };
  });
}

export interface AddNodes extends ClusterChange {
  readonly dir: string;
  readonly names: readonly string[];
  /** Which pool they join; undefined: worker, or the one that a lost machine was added to. */
  readonly pool?: string | undefined;
  /** Undefined: does not wait until they are Ready. */
  readonly patience: WaitLimits | undefined;
}

export async function addNodes(add: AddNodes): Promise<readonly InventoryMachine[]> {
  const { host, dir, signal } = add;
  const found = await mustFindOwnMachines(host, dir, 'node add');
  const { platform, placed } = found;
  if (placed === undefined) throw clusterErrors.NO_CLUSTER({ dir });
  await using client = await connectCluster(host, dir);
  if (add.pool !== undefined) await mustBeJoinable(client, add.pool, signal);
  const existing = new Set((await platform.listMachines(found.name)).map(({ name }) => name));
  const patient = apiPatience({ host, signal });
  const { machines } = await retry(patient, () =>
    changeInventory({
      host,
      dir,
      client,
      signal,
      change: (before) => {
        // Listed but without a machine: the machine was lost, or an earlier run was interrupted here.
        const isListed = (name: string) => before.some((one) => one.name === name && one.role !== 'bootstrap');
        const fresh = add.names.filter((name) => existing.has(name) || !isListed(name));
        const pool = add.pool === 'worker' ? undefined : add.pool;
        const kept = add.pool === undefined ? before : before.map((one) => movedTo(one, { ...add, pool }));
        return [...kept, ...newWorkers(before, fresh, { network: placed.machineNetwork, pool })];
      },
    }),
  );
  const added = machines.filter(({ name }) => add.names.includes(name));
  // While the Node of a lost machine counts as live, no machine is admitted under its name. So the Node is deleted.
  for (const { name } of added) {
    await retry(patient, () => client.delete({ apiVersion: 'v1', kind: 'Node', name }, { signal }));
  }
  await retry(patient, () => forgetTokens(client, added, signal));
  const requests: MachineRequest[] = [];
  for (const {
    name,
    role,
    pool = role,
    addresses: [address = ''],
  } of added) {
    const ignition = await (pool === 'worker'
      ? host.files.read(join(dir, 'worker.ign'))
      : retry(patient, () => laterPointer({ host, dir, client, pool, signal })));
    requests.push({ name, role, address, ignition });
  }
  await ableTo(platform, 'createMachines')(add, {
    cluster: { name: found.name },
    machines: requests,
    image: await machineImage(host),
  });
  if (add.patience !== undefined) await awaitReady(add, { cluster: found, machines, patience: add.patience });
  return added;
}

/** A lost machine that is added again joins the pool that is asked for now. */
function movedTo(machine: InventoryMachine, { names, pool }: Pick<AddNodes, 'names' | 'pool'>): InventoryMachine {
  if (!names.includes(machine.name)) return machine;
  const { name, role, addresses } = machine;
  if (role !== 'worker') {
    throw clusterErrors.POOL_NOT_JOINABLE({ pool: pool ?? 'worker', reason: `${name} is a ${role}` });
  }
  return { name, role, addresses, ...(pool === undefined ? {} : { pool }) };
}

/**
 * Deletes the single-use tokens that were issued to the addresses of these machines: they are those of machines that
 * are gone, and an address has only so many at a time.
 */
async function forgetTokens(
  client: KubernetesClient,
  machines: readonly InventoryMachine[],
  signal: AbortSignal,
): Promise<void> {
  const addresses = new Set(machines.flatMap((machine) => machine.addresses));
  for (const { id, issuedToAddress } of await listBootstrapTokens(client, { signal })) {
    if (issuedToAddress !== undefined && addresses.has(issuedToAddress)) {
      await deleteBootstrapToken(client, id, { signal });
    }
  }
}

interface AwaitedMachine {
  readonly cluster: FoundCluster;
  readonly machines: Inventory['machines'];
  readonly patience: WaitLimits;
}

/** Waits until all are Ready and masters also vote in etcd: before that a master does not replace the lost one. */
async function awaitReady(add: AddNodes, { cluster, machines, patience }: AwaitedMachine): Promise<void> {
  const { host, dir, names: expected, signal, emit } = add;
  const tell = (level: 'info' | 'warn', text: string): void => emit({ kind: 'notice', level, text });
  await using client = await connectCluster(host, dir);
  const masters = machines.filter(({ name, role }) => role === 'master' && expected.includes(name));
  const look = async (): Promise<ProgressLook> => {
    const nodes = await lookAtNodes({ host, client, cluster, expected, signal });
    if (!nodes.isDone || masters.length === 0) return nodes;
    const voters = await listVoters(client, machines, signal);
    const carrying = await carryingEtcd(client, signal);
    const missing = masters
      .filter(({ name }) => !voters.includes(name) || !carrying.has(name))
      .map(({ name }) => waitingFor(name, 'does not vote in etcd yet'));
    return { isDone: missing.length === 0, keys: [...nodes.keys, ...missing.map(({ key }) => key)], missing };
  };
  await waitForProgress({
    clock: host.clock,
    command: 'wait-for install-complete',
    stage: 'node add',
    patience,
    everyMs: 500,
    signal,
    look,
    onMissing: (missing) => tell('info', missingLine(missing)),
    stall: stallWatch({ host, dir, signal }, (reason) => {
      if (reason !== undefined) tell('warn', `nothing moves; likely: ${reason.sentence}`);
    }),
  });
}

/** Names of nodes whose own etcd pod is Ready. A pod of an earlier machine with the same name has another owner. */
async function carryingEtcd(client: KubernetesClient, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const call = { signal, deadlineMs: 5_000 };
  const [nodes, pods] = await Promise.all([
    client.list({ apiVersion: 'v1', kind: 'Node' }, {}, call),
    client.list(
      { apiVersion: 'v1', kind: 'Pod' },
      { namespace: systemNamespace, labelSelector: 'component=etcd' },
      call,
    ),
  ]);
  const owners = pods.items
    .filter((pod) => hasCondition(pod, 'Ready'))
    .flatMap(({ metadata }) => (metadata['ownerReferences'] ?? []) as readonly { readonly uid: string }[]);
  const isOwner = ({ metadata }: KubernetesObject): boolean => owners.some(({ uid }) => uid === metadata.uid);
  return new Set(nodes.items.filter(isOwner).map(({ metadata }) => metadata.name));
}

export interface RemoveNode extends ClusterChange {
  readonly dir: string;
  readonly name: string;
  /** Removes the node even if its pods cannot be moved away in time. */
  readonly isForced: boolean;
}

/**
 * Moves the pods of the node, removes the machine from the inventory, destroys it and deletes the Node last: then no
 * kubelet can register the Node again.
 */
export async function removeNode(remove: RemoveNode): Promise<void> {
  const { host, dir, name, signal } = remove;
  const found = await mustFindOwnMachines(host, dir, 'node remove');
  const machine = knownMachine(found, name);
  if (machine.role !== 'worker') throw clusterErrors.NODE_IS_MASTER({ name });
  await drain(remove);
  await using client = await connectCluster(host, dir);
  await changeInventory({ host, dir, client, signal, change: (all) => all.filter((one) => one.name !== name) });
  const isThere = (await found.platform.listMachines(found.name)).some((one) => one.name === name);
  if (isThere) await ableTo(found.platform, 'destroyMachines')(remove, found.name, [name]);
  await client.delete({ apiVersion: 'v1', kind: 'Node', name }, { signal });
}

function knownMachine({ inventory }: FoundCluster, name: string): InventoryMachine {
  const machine = inventory.machines.find((one) => one.name === name);
  if (machine === undefined) {
    throw clusterErrors.NODE_UNKNOWN({ name, known: inventory.machines.map((one) => one.name) });
  }
  return machine;
}

async function drain({ host, dir, name, isForced, signal, emit }: RemoveNode): Promise<void> {
  const kubectl = join(await partPrograms(host, 'kubernetes'), 'kubectl');
  const args = ['drain', name, '--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=120s'];
  const env = { KUBECONFIG: await kubeconfigFile(host, dir) };
  const { code, stderr } = await host.processes.run(kubectl, args, { env, signal, timeoutMs: 150_000 });
  if (code === 0 || /not found/.test(stderr)) return;
  const reason = stderr.trim().split('\n').at(-1) ?? '';
  if (!isForced) throw clusterErrors.NOT_DRAINED({ name, reason });
  emit({ kind: 'notice', level: 'warn', text: `${name} goes although it still has pods: ${reason}` });
}
