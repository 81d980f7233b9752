// The state of a cluster: machines as the platform sees them, nodes and etcd voters as the API shows them. Every part
// may be unavailable; then the others are returned with the reason.
import type { BootstrapProgress } from '../contract/bootstrap-progress.ts';
import { etcdEndpoints } from '../contract/cluster-objects.ts';
import type { Inventory } from '../contract/inventory.ts';
import { stageProgressText } from '../contract/stage-progress.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { type AttemptView, newestOfEachNode } from '../in-place/attempt-view.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { OperatorView, ReleaseView } from '../operators/operator-view.ts';
import type { PoolView } from '../pool-rollout/pool-view.ts';
import { isHeld } from './bootstrap-phase.ts';
import { connectCluster } from './cluster-kubeconfig.ts';
import { bootstrapWords } from './cluster-missing.ts';
import { type ClusterNode, listNodes } from './cluster-nodes.ts';
import { listOperators, noOperators } from './cluster-operators.ts';
import { mustFindCluster } from './find-cluster.ts';
import { observeAttempts } from './in-place/observe-attempts.ts';
import { machineWords } from './machine-words.ts';
import { observeCluster } from './observe-cluster.ts';
import { observePools } from './pools/observe-pools.ts';

export interface StatusMachine {
  readonly name: string;
  readonly role: string;
  readonly address: string;
  readonly state: string;
  /** What it does or waits for. */
  readonly detail: string;
}

export interface BootstrapStatus extends Pick<BootstrapProgress, 'stage' | 'state' | 'isComplete' | 'at'> {
  /** What it does or waits for, as text. */
  readonly missing: readonly string[];
}

export interface ClusterStatus {
  readonly cluster: string;
  readonly infraId: string;
  readonly machines: readonly StatusMachine[];
  readonly bootstrap: BootstrapStatus | null;
  readonly api: { readonly isReady: boolean; readonly reason?: string };
  readonly etcdVoters: readonly string[];
  readonly nodes: readonly ClusterNode[];
  /** Empty while the API does not answer, or does not know what a pool is. */
  readonly pools: readonly PoolView[];
  /** The newest attempt in place of each node; empty like `pools`. */
  readonly attempts: readonly AttemptView[];
  /** Null while the API does not answer, or has no ClusterVersion. */
  readonly release: ReleaseView | null;
  /** Empty like `pools`. */
  readonly operators: readonly OperatorView[];
}

export async function clusterStatus(host: Host, dir: string, signal: AbortSignal): Promise<ClusterStatus> {
  const cluster = await mustFindCluster(host, dir);
  const { clusterName, name, inventory } = cluster;
  const [listed, observed, fromApi] = await Promise.all([
    cluster.platform.observeMachines(name),
    observeCluster(host, cluster),
    askApi({ host, dir, inventory, signal }),
  ]);
  const machines = listed.map(({ name: machine, role, address, state, detail }) => {
    const seen = observed.machines.find((one) => one.name === machine);
    const isHeldMachine = role === 'bootstrap' && isHeld(observed.bootstrap);
    const words = isHeldMachine ? bootstrapWords(observed.bootstrap) : seen?.agent && machineWords(seen);
    return { name: machine, role, address, state, detail: words ?? detail };
  });
  return { cluster: clusterName, infraId: name, machines, bootstrap: bootstrapStatus(observed.bootstrap), ...fromApi };
}

function bootstrapStatus(bootstrap: BootstrapProgress | undefined): BootstrapStatus | null {
  if (bootstrap === undefined) return null;
  const { stage, state, progress, reason, isComplete, at } = bootstrap;
  const said = progress === undefined ? reason : stageProgressText(progress);
  return { stage, state, missing: said === undefined ? [] : [said], isComplete, at };
}

interface ApiQuestion {
  readonly host: Host;
  readonly dir: string;
  readonly inventory: Inventory;
  readonly signal: AbortSignal;
}

async function askApi({
  host,
  dir,
  inventory,
  signal,
}: ApiQuestion): Promise<Omit<ClusterStatus, 'cluster' | 'infraId' | 'machines' | 'bootstrap'>> {
  try {
    await using client = await connectCluster(host, dir);
    const [nodes, etcdVoters, pools, attempts, operators] = await Promise.all([
      listNodes(client, signal),
      listVoters(client, inventory.machines, signal),
      noneIfUnknown(observePools(client, signal)),
      noneIfUnknown(observeAttempts(client, signal).then((seen) => newestOfEachNode(seen.attempts))),
      listOperators(client, signal),
    ]);
    return { api: { isReady: true }, etcdVoters, nodes, pools, attempts, ...operators };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    const api = { isReady: false, reason: error.message };
    return { api, etcdVoters: [], nodes: [], pools: [], attempts: [], ...noOperators };
  }
}

/** The API of a cluster that is being made does not know all kinds yet. */
async function noneIfUnknown<T>(listed: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await listed;
  } catch (error) {
    if (isError(error, kubernetesErrors.NO_SUCH_KIND)) return [];
    throw error;
  }
}

/** The voters on masters: the endpoints that are published for clients of etcd. */
export async function listVoters(
  client: KubernetesClient,
  machines: Inventory['machines'],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = await client.find(etcdEndpoints, { signal, deadlineMs: 5_000 });
  const urls = Object.values((found?.['data'] ?? {}) as Record<string, string>);
  return urls
    .map((url) => {
      const address = new URL(url).hostname;
      return machines.find(({ addresses }) => addresses.includes(address))?.name ?? address;
    })
    .sort();
}
