// What the tests of machine configuration share: MachineConfigs as a person writes them, the disruption policies of the
// tests, and what pools and nodes say about themselves, asked through the API.
import { join } from 'node:path';
import { machineConfigurationObject, nodeConfigAnnotations } from '../../../src/contract/machine-config-node.ts';
import { realHost } from '../../../src/host/real/real-host.ts';
import type { Unit } from '../../../src/ignition/config.ts';
import { connectKubernetes, type KubernetesClient } from '../../../src/kubernetes/client.ts';
import type { KubernetesObject, ObjectReference } from '../../../src/kubernetes/object.ts';
import { apiVersion, roleLabel } from '../../../src/machine-config/machine-config.ts';
import { leaderOf, signal } from '../fire/machine-processes.ts';
import { cli, eventually } from '../machine-lab.ts';

export interface ConfigCluster {
  /** The asset folder. */
  readonly dir: string;
  /** A scratch folder. */
  readonly folder: string;
  /** The cluster's name on the platform, for `machine` commands and `inside`. */
  readonly infraId: () => string;
}

export const workers = ['worker-0', 'worker-1'];

/** As the host sees it. */
export function leaderOfMachine(cluster: ConfigCluster, machine: string): number | undefined {
  return leaderOf(cluster.infraId(), machine);
}

/** Takes the power of a machine away in the middle of whatever it does, and gives it back. */
export async function cutPower(cluster: ConfigCluster, machine: string): Promise<void> {
  signal(leaderOfMachine(cluster, machine) ?? 0, 'SIGKILL');
  await eventually(`that ${machine} is off`, 20, async () =>
    leaderOfMachine(cluster, machine) === undefined ? true : undefined,
  );
  await cli('machine', 'start', '--cluster', cluster.infraId(), machine);
}

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** The API as the administrator, from the host. */
export async function withApi<T>({ dir }: ConfigCluster, use: (api: KubernetesClient) => Promise<T>): Promise<T> {
  await using api = await connectKubernetes(realHost(), { path: join(dir, 'auth/kubeconfig') });
  return await use(api);
}

export async function applyObjects(cluster: ConfigCluster, ...objects: readonly KubernetesObject[]): Promise<void> {
  await withApi(cluster, async (api) => {
    for (const object of objects) await api.apply(object, { force: true });
  });
}

export const machineConfigReference = (name: string): ObjectReference => ({ apiVersion, kind: 'MachineConfig', name });
export const poolReference = (name: string): ObjectReference => ({ apiVersion, kind: 'MachineConfigPool', name });

export interface TestFile {
  readonly path: string;
  readonly text: string;
  /** Default 0644. */
  readonly mode?: number;
}

export interface TestMachineConfig {
  readonly name: string;
  /** Default `worker`. */
  readonly role?: string;
  readonly files?: readonly TestFile[];
  readonly units?: readonly Unit[];
  /** More of `storage`. */
  readonly storage?: object;
}

export function machineConfig({ name, role = 'worker', files, units, storage }: TestMachineConfig): KubernetesObject {
  const entries = (files ?? []).map(({ path, text, mode = 0o644 }) => ({
    path,
    mode,
    overwrite: true,
    contents: { source: `data:;base64,${Buffer.from(text).toString('base64')}` },
  }));
  const config = {
    ignition: { version: '3.5.0' },
    ...(files === undefined && storage === undefined ? {} : { storage: { files: entries, ...storage } }),
    ...(units === undefined ? {} : { systemd: { units } }),
  };
  return { apiVersion, kind: 'MachineConfig', metadata: { name, labels: { [roleLabel]: role } }, spec: { config } };
}

/** Files below it change without any action. */
export const liveFolder = '/etc/proof/live';
/** A file of the operating system; nobody has to do anything when it changes. */
export const replacedFile = '/etc/issue';
/** A change of it reloads the unit `reloadedUnit`. */
export const reloadedFile = '/etc/proof/policy.json';
export const reloadedUnit = 'proof-reload.service';
/** Units that are restarted when they change. */
export const restartedUnits = [
  'proof-tick.service',
  reloadedUnit,
  'proof-bad.service',
  'proof-passing.service',
] as const;

/** What the person who runs this cluster says about the files and units of these tests. */
export function disruptionPolicies(): KubernetesObject {
  const { apiVersion: version, kind, name } = machineConfigurationObject;
  const restart = (serviceName: string): readonly object[] => [
    { type: 'DaemonReload' },
    { type: 'Restart', restart: { serviceName } },
  ];
  return {
    apiVersion: version,
    kind,
    metadata: { name },
    spec: {
      nodeDisruptionPolicy: {
        files: [
          ...[liveFolder, replacedFile].map((path) => ({ path, actions: [{ type: 'None' }] })),
          { path: reloadedFile, actions: [{ type: 'Reload', reload: { serviceName: reloadedUnit } }] },
        ],
        units: restartedUnits.map((unit) => ({ name: unit, actions: restart(unit) })),
      },
    },
  };
}

interface RawCondition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

export interface PoolSight {
  /** The rendered config that its nodes are to have. */
  readonly target: string;
  /** The MachineConfigs that it was rendered from. */
  readonly sources: readonly string[];
  /** The last one that all nodes had. */
  readonly rolledOut: string;
  /** Type → message, of those that are true. */
  readonly conditions: Readonly<Record<string, string>>;
}

export async function poolSight(api: KubernetesClient, pool: string): Promise<PoolSight> {
  const { spec, status } = (await api.get(poolReference(pool))) as unknown as {
    spec: { configuration?: { name?: string; source?: readonly { name: string }[] } };
    status?: { configuration?: { name?: string }; conditions?: readonly RawCondition[] };
  };
  const isTrue = (status?.conditions ?? []).filter((condition) => condition.status === 'True');
  return {
    target: spec.configuration?.name ?? '',
    sources: (spec.configuration?.source ?? []).map(({ name }) => name),
    rolledOut: status?.configuration?.name ?? '',
    conditions: Object.fromEntries(isTrue.map(({ type, message = '' }) => [type, message])),
  };
}

export interface NodeSight {
  readonly name: string;
  readonly current: string;
  readonly desired: string;
  readonly state: string;
  readonly reason: string;
  /** The daemon is at work, forwards or back. */
  readonly isChanging: boolean;
  readonly bootId: string;
  /** Ready and not cordoned. */
  readonly isAvailable: boolean;
}

export function nodeSight({ metadata, spec, status }: KubernetesObject): NodeSight {
  const text = (annotation: string): string => metadata.annotations?.[annotation] ?? '';
  const { conditions = [], nodeInfo } = status as {
    conditions?: readonly RawCondition[];
    nodeInfo?: { bootID: string };
  };
  const isReady = conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return {
    name: metadata.name,
    current: text(nodeConfigAnnotations.current),
    desired: text(nodeConfigAnnotations.desired),
    state: text(nodeConfigAnnotations.state),
    reason: text(nodeConfigAnnotations.reason),
    isChanging: text(nodeConfigAnnotations.progress) !== '',
    bootId: nodeInfo?.bootID ?? '',
    isAvailable: isReady && (spec as { unschedulable?: boolean }).unschedulable !== true,
  };
}

export async function nodeSights(api: KubernetesClient, names?: readonly string[]): Promise<readonly NodeSight[]> {
  const { items } = await api.list({ apiVersion: 'v1', kind: 'Node' });
  const sights = items.map(nodeSight);
  return names === undefined ? sights : sights.filter(({ name }) => names.includes(name));
}

/** A node that has what it should, and is in use. */
export function goodEnd(target: string): Omit<NodeSight, 'name' | 'bootId'> {
  return { current: target, desired: target, state: 'Done', reason: '', isChanging: false, isAvailable: true };
}

/** Looks again and again over one connection; what was seen last is in the message when it does not happen. */
export async function eventuallySeen<T>(
  cluster: ConfigCluster,
  { what, seconds }: { readonly what: string; readonly seconds: number },
  look: (api: KubernetesClient) => Promise<T | undefined>,
): Promise<T> {
  return withApi(cluster, async (api) => {
    const endMs = performance.now() + seconds * 1000;
    for (;;) {
      // An API that moves from one master to another may miss a call.
      const seen = await look(api).catch(() => undefined);
      if (seen !== undefined) return seen;
      if (performance.now() > endMs)
        throw new Error(`${what} did not happen within ${seconds} s\n${await storyOf(api)}`);
      await pause(150);
    }
  });
}

async function storyOf(api: KubernetesClient): Promise<string> {
  const { items } = await api.list({ apiVersion, kind: 'MachineConfigPool' });
  const pools = await Promise.all(
    items.map(async ({ metadata }) => [metadata.name, await poolSight(api, metadata.name)]),
  );
  return JSON.stringify({ pools, nodes: await nodeSights(api) }, undefined, 1);
}

/** Changes something and waits until the pool has another target and every node of it has that one; how long it took. */
export async function rollOut(
  cluster: ConfigCluster,
  { pool = 'worker', seconds }: { readonly pool?: string; readonly seconds: number },
  change: () => Promise<unknown>,
): Promise<number> {
  const before = await withApi(cluster, (api) => poolSight(api, pool));
  const startMs = performance.now();
  await change();
  await untilRolledOut(cluster, { pool, seconds, insteadOf: before.target });
  return (performance.now() - startMs) / 1000;
}

export async function untilRolledOut(
  cluster: ConfigCluster,
  { pool = 'worker', seconds, insteadOf }: { pool?: string; seconds: number; insteadOf?: string },
): Promise<PoolSight> {
  return eventuallySeen(cluster, { what: `a roll-out of the pool ${pool}`, seconds }, async (api) => {
    const sight = await poolSight(api, pool);
    const isDone = sight.target === sight.rolledOut && sight.conditions['Updated'] !== undefined;
    return isDone && sight.target !== insteadOf ? sight : undefined;
  });
}

export async function applyMachineConfig(cluster: ConfigCluster, config: TestMachineConfig): Promise<void> {
  await applyObjects(cluster, machineConfig(config));
}

export async function removeMachineConfigs(cluster: ConfigCluster, ...names: readonly string[]): Promise<void> {
  await withApi(cluster, async (api) => {
    for (const name of names) await api.delete(machineConfigReference(name));
  });
}
