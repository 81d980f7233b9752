// Every version of one Node and of its Lease, as the API tells them, none left out, in the order of the API's own versions.
// Order is judged by these versions and by nobody's clock.
import type { KubernetesClient } from '../../../src/kubernetes/client.ts';
import { type KubernetesObject, type ObjectKind, objectVersion } from '../../../src/kubernetes/object.ts';
import { jsonLines } from '../../../src/kubernetes/watch.ts';
import { type ConfigCluster, pause, withApi } from '../machine-config/config-lab.ts';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface NodeVersion {
  readonly version: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly isCordoned: boolean;
  readonly bootId: string;
  readonly isReady: boolean;
  /** When the kubelet last said anything in the Node itself. */
  readonly heartbeat: string;
}

export interface ApiStory {
  readonly node: readonly NodeVersion[];
  /** The version of each renewal of the kubelet's Lease, with the moment that the kubelet gave. */
  readonly renewals: readonly { readonly version: bigint; readonly at: string }[];
}

export interface ApiRecord {
  readonly end: () => Promise<ApiStory>;
}

export function nodeVersion(object: KubernetesObject): NodeVersion {
  const { metadata } = object;
  const spec = object['spec'] as { taints?: readonly Taint[]; unschedulable?: boolean };
  const status = object['status'] as {
    conditions?: readonly { type: string; status: string; lastHeartbeatTime: string }[];
    nodeInfo?: { bootID: string };
  };
  const ready = (status.conditions ?? []).find(({ type }) => type === 'Ready');
  return {
    version: objectVersion(object),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    taints: spec.taints ?? [],
    isCordoned: spec.unschedulable === true,
    bootId: status.nodeInfo?.bootID ?? '',
    isReady: ready?.status === 'True',
    heartbeat: ready?.lastHeartbeatTime ?? '',
  };
}

/** Begins when it resolves: what happens afterwards is in the story. */
export async function recordNode(cluster: ConfigCluster, name: string): Promise<ApiRecord> {
  const stop = new AbortController();
  const node: NodeVersion[] = [];
  const renewals: { version: bigint; at: string }[] = [];
  const started: Promise<void>[] = [];
  const follow = (kind: ObjectKind, namespace: string | undefined, keep: (object: KubernetesObject) => void) => {
    const first = Promise.withResolvers<void>();
    started.push(first.promise);
    const selection = { fieldSelector: `metadata.name=${name}`, ...(namespace === undefined ? {} : { namespace }) };
    return withApi(cluster, (api) =>
      followOne({ api, kind, selection, signal: stop.signal, keep, onStart: first.resolve }),
    );
  };
  const following = Promise.all([
    follow({ apiVersion: 'v1', kind: 'Node' }, undefined, (object) => void node.push(nodeVersion(object))),
    follow({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }, 'kube-node-lease', (object) => {
      const { renewTime = '' } = object['spec'] as { renewTime?: string };
      renewals.push({ version: objectVersion(object), at: renewTime });
    }),
  ]);
  await Promise.race([Promise.all(started), following]);
  return {
    end: async () => {
      stop.abort();
      await following;
      return { node, renewals };
    },
  };
}

interface Following {
  readonly api: KubernetesClient;
  readonly kind: ObjectKind;
  readonly selection: { readonly fieldSelector: string; readonly namespace?: string };
  readonly signal: AbortSignal;
  readonly keep: (object: KubernetesObject) => void;
  readonly onStart: () => void;
}

const idleMs = 30_000;

async function followOne({ api, kind, selection, signal, keep, onStart }: Following): Promise<void> {
  const list = await api.list(kind, selection);
  for (const item of list.items) keep(item);
  onStart();
  let { resourceVersion } = list;
  while (!signal.aborted) {
    try {
      const chunks = await api.openWatch(kind, selection, { resourceVersion, timeoutSeconds: 20, idleMs, signal });
      for await (const line of jsonLines(chunks)) {
        const { type, object } = line as { readonly type: string; readonly object: KubernetesObject };
        // A gap in the record would make it worthless.
        if (type === 'ERROR') throw new Error(`the watch of ${kind.kind} has a gap: ${JSON.stringify(object)}`);
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        if (type !== 'BOOKMARK') keep(object);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Error && error.message.includes('has a gap')) throw error;
    }
    await pause(50);
  }
}
