// Nodes as the API shows them, and what the expected ones lack to be Ready.
import { type Missing, waitingFor } from '../contract/missing.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { movementKeys } from './cluster-missing.ts';
import type { ClusterHandle } from './find-cluster.ts';
import { isSettled, machineWords } from './machine-words.ts';
import { observeCluster } from './observe-cluster.ts';
import type { ProgressLook } from './wait-for-progress.ts';

export interface ClusterNode {
  readonly name: string;
  readonly isReady: boolean;
  readonly roles: readonly string[];
  readonly version: string;
  readonly address: string;
  /** Why it is not Ready: the message of its kubelet. */
  readonly reason: string;
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  readonly nodeInfo?: { readonly kubeletVersion?: string };
}

const rolePrefix = 'node-role.kubernetes.io/';

export async function listNodes(client: KubernetesClient, signal: AbortSignal): Promise<readonly ClusterNode[]> {
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Node' }, {}, { signal, deadlineMs: 5_000 });
  return items.map(readNode);
}

export function readNode(node: KubernetesObject): ClusterNode {
  const { metadata } = node;
  const { addresses, nodeInfo } = (node['status'] ?? {}) as NodeStatus;
  const ready = conditionOf(node, 'Ready');
  return {
    name: metadata.name,
    isReady: ready?.status === 'True',
    roles: Object.keys(metadata.labels ?? {})
      .filter((label) => label.startsWith(rolePrefix))
      .map((label) => label.slice(rolePrefix.length))
      .sort(),
    version: nodeInfo?.kubeletVersion ?? '',
    address: addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '',
    reason: ready === undefined ? 'its kubelet has not reported yet' : ready.message,
  };
}

export function notReady(expected: readonly string[], nodes: readonly ClusterNode[]): readonly Missing[] {
  return expected.flatMap((name) => {
    const node = nodes.find((candidate) => candidate.name === name);
    if (node === undefined) return [waitingFor(name, 'is not a node yet')];
    return node.isReady ? [] : [waitingFor(name, 'is not Ready', node.reason === '' ? {} : { detail: node.reason })];
  });
}

/** Kubelets that the API server cannot reach, mostly because their serving certificate is not signed yet. */
async function unreachableKubelets(
  client: KubernetesClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly Missing[]> {
  const detail = 'the API server cannot reach its kubelet';
  const answers = await Promise.all(
    names.map(async (name) => {
      const { status } = await client.getRaw(`/api/v1/nodes/${name}/proxy/healthz`, { signal, deadlineMs: 5_000 });
      return status === 200 ? [] : [waitingFor(name, 'gives no logs yet', { detail })];
    }),
  );
  return answers.flat();
}

/** While the API does not answer, the wait goes on and reports the error as what is missing. */
export function apiAway({ code: key, message }: FirstlightError): ProgressLook {
  return { isDone: false, keys: [key], missing: [waitingFor(message, '', { key })] };
}

export interface AwaitedNodes {
  readonly host: Host;
  readonly client: KubernetesClient;
  readonly cluster: ClusterHandle;
  readonly expected: readonly string[];
  readonly signal: AbortSignal;
}

/** Checks whether all of them are Ready and reachable; for the others it adds what their machine waits for. */
export async function lookAtNodes({ host, client, cluster, expected, signal }: AwaitedNodes): Promise<ProgressLook> {
  const observed = await observeCluster(host, cluster);
  try {
    const waiting = notReady(expected, await listNodes(client, signal));
    // Checked last: a node may be Ready while neither its logs nor a shell can be reached.
    const unready = waiting.length > 0 ? waiting : await unreachableKubelets(client, expected, signal);
    const machines = observed.machines.filter(({ name }) => expected.includes(name));
    const missing = unready.map((each) => {
      const machine = machines.find(({ name }) => name === each.who);
      if (machine === undefined || isSettled(machine)) return each;
      return { ...each, detail: [each.detail ?? [], machineWords(machine)].flat().join(': ') };
    });
    const keys = [...unready.map(({ key }) => key), ...movementKeys({ machines, bootstrap: undefined })];
    return { isDone: missing.length === 0, keys, missing };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    return apiAway(error);
  }
}
