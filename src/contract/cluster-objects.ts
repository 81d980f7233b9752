// The objects of the cluster that more than one program or folder names: namespaces, names, keys and marks, each once.
// Plain data without a Kubernetes client, so that manifests, agents, bootkube and the workstation can all import it.

/** Where everything that Firstlight keeps in the cluster is. */
export const systemNamespace = 'kube-system';

function systemConfigMap<const Name extends string>(name: Name) {
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace: systemNamespace, name } as const;
}

/** As much of an object as is read here. */
interface SystemObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** The members of etcd that clients may use: id → client URL. */
export const etcdEndpoints = systemConfigMap('etcd-endpoints');

/** The machines that may join; `inventory.ts` has the schema of the text below the key. */
export const inventoryConfigMap = systemConfigMap('firstlight-inventory');
export const inventoryKey = 'inventory.json';

/** A copy of the progress file of the bootstrap machine; `bootstrap-progress.ts` has the schema of the text. */
export const progressConfigMap = systemConfigMap('bootstrap-progress');
export const progressKey = 'progress.json';

/** Written once, by the bootstrap machine, when the masters carry the cluster. */
export const handoffConfigMap = systemConfigMap('bootstrap');
export const handoffComplete = { status: 'complete' } as const;

export function isHandoffComplete(configMap: SystemObject | undefined): boolean {
  const data = configMap?.['data'] as { readonly status?: string } | undefined;
  return data?.status === handoffComplete.status;
}

/** The digests of the pool tokens, for the config servers of masters. */
export const poolTokensSecret = {
  name: 'firstlight-pool-tokens',
  namespace: systemNamespace,
  key: 'pool-tokens.json',
} as const;

const joinRecordPrefix = 'firstlight-join-';

/** One ConfigMap per master, in which its agent says whether it is ready to join etcd. */
export function joinRecordName(node: string): string {
  return `${joinRecordPrefix}${node}`;
}

/** The node that a ConfigMap of this name is about; undefined where it is no join record. */
export function nodeOfJoinRecord(name: string): string | undefined {
  return name.startsWith(joinRecordPrefix) ? name.slice(joinRecordPrefix.length) : undefined;
}

/** On a Node: its machine is about to be taken away. */
export const leavingAnnotation = 'firstlight.io/leaving';

export function isLeaving({ metadata }: SystemObject): boolean {
  return metadata.deletionTimestamp !== undefined || metadata.annotations?.[leavingAnnotation] === 'true';
}

/** Leases under which one agent at a time works. A manifest makes them, so that agents need no right to create any. */
export const membershipLease = 'etcd-membership';
export const approverLease = 'csr-approver';
export const renewalLease = 'leaf-renewal';
export const agentLeases: readonly string[] = [membershipLease, approverLease, renewalLease];
