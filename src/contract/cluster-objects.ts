// Namespaces, names, keys and annotations of the cluster objects that more than one program or folder uses, each once.
// Plain data without a Kubernetes client, so that manifests, agents, bootkube and the workstation can all import it.

/** The namespace of all objects that Firstlight keeps in the cluster. */
export const systemNamespace = 'kube-system';

/** The administrators of the cluster, by their certificate. */
export const adminGroup = 'firstlight:admins';
/** The agents of masters, by the certificate that each signs for itself. */
export const nodeAgentGroup = 'firstlight:node-agents';
/** The config servers of masters, by the certificate that each master signs for its own. */
export const configServerGroup = 'firstlight:config-servers';

function systemConfigMap<const Name extends string>(name: Name) {
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace: systemNamespace, name } as const;
}

/** The fields of an object that this file reads. */
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

/** The machines that may join. `inventory.ts` has the schema of the text under the key. */
export const inventoryConfigMap = systemConfigMap('firstlight-inventory');
export const inventoryKey = 'inventory.json';

/** A copy of the progress file of the bootstrap machine; `bootstrap-progress.ts` has the schema of the text. */
export const progressConfigMap = systemConfigMap('bootstrap-progress');
export const progressKey = 'progress.json';

/** The bootstrap machine writes it once, when the masters can run the cluster without the bootstrap machine. */
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

/**
 * The keys that encrypt Secrets in etcd, as every master should have them; `secrets-encryption.ts` has the schema of
 * the text. It is encrypted in etcd like any other Secret, by the first of its own keys.
 */
export const encryptionSecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  namespace: systemNamespace,
  name: 'firstlight-secrets-encryption',
} as const;

/** An annotation of that Secret from the first to the last step of a rotation: the name of the new key. */
export const rotatingToAnnotation = 'firstlight.io/rotating-to';

/** An annotation of a master's Node: the digest of the key list that its kube-apiserver has loaded. */
export const loadedEncryptionAnnotation = 'firstlight.io/secrets-encryption';

/**
 * Certificates and secrets of machines that are in no MachineConfig, as machines are to have them. A person makes it to
 * change one of them; a key that it does not have stays as the machine got it at its first boot.
 */
export const machineSecrets = {
  apiVersion: 'v1',
  kind: 'Secret',
  namespace: systemNamespace,
  name: 'firstlight-machine-secrets',
} as const;

/** The registry of the cluster: what machines must know to pull from it, and who may push to it. */
export const registryNamespace = 'openshift-image-registry';
/** `host`: as in the names of its images. `ca-bundle.crt`: who vouches for it. */
export const registryTrust = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: registryNamespace,
  name: 'registry-trust',
} as const;
export const registryTrustKeys = { host: 'host', authority: 'ca-bundle.crt' } as const;
export const registryPassword = {
  apiVersion: 'v1',
  kind: 'Secret',
  namespace: registryNamespace,
  name: 'registry-password',
} as const;

/** What a node that runs the torcx bootstrapper asks the cluster for; the files of the installer say the same. */
export const torcxMappings = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'tectonic-system',
  name: 'tectonic-torcx-runtime-mappings',
} as const;
export const torcxMappingsKeys = {
  mappings: 'runtime-mappings.yaml',
  keyring: 'pubring.gpg',
  kubeletEnvironment: 'kubelet.env',
} as const;

const joinRecordPrefix = 'firstlight-join-';

/** Each master has one such ConfigMap. The agent of the master records there whether it is ready to join etcd. */
export function joinRecordName(node: string): string {
  return `${joinRecordPrefix}${node}`;
}

/** The node that a ConfigMap of this name belongs to; undefined if the ConfigMap is not a join record. */
export function nodeOfJoinRecord(name: string): string | undefined {
  return name.startsWith(joinRecordPrefix) ? name.slice(joinRecordPrefix.length) : undefined;
}

/** An annotation of a Node whose machine will be removed soon. */
export const leavingAnnotation = 'firstlight.io/leaving';

export function isLeaving({ metadata }: SystemObject): boolean {
  return metadata.deletionTimestamp !== undefined || metadata.annotations?.[leavingAnnotation] === 'true';
}

/** For each Lease, only its holder does the work. A manifest makes the Leases: agents need no right to create any. */
export const membershipLease = 'etcd-membership';
export const approverLease = 'csr-approver';
export const renewalLease = 'leaf-renewal';
export const rolloutLease = 'machine-config-controller';
export const inPlaceLease = 'in-place-controller';
export const agentLeases: readonly string[] = [
  membershipLease,
  approverLease,
  renewalLease,
  rolloutLease,
  inPlaceLease,
];
