// What the version operator, bootkube and the workstation agree on: the objects that say which release a cluster runs
// and how its operators are, and which capabilities a cluster may have. Names and fields are those of the original,
// because existing tools read them.

export const configurationGroup = 'config.openshift.io';
const apiVersion = `${configurationGroup}/v1` as const;

/** The one object that names the release; its spec is the user's, its status the version operator's. */
export const clusterVersionReference = { apiVersion, kind: 'ClusterVersion', name: 'version' } as const;
/** One object per operator; its status is the operator's. */
export const clusterOperatorKind = { apiVersion, kind: 'ClusterOperator' } as const;

/** The version operator itself. */
export const versionOperator = {
  namespace: 'openshift-cluster-version',
  /** Of its Deployment, its account and its Lease. */
  name: 'cluster-version-operator',
} as const;

/** In the image of the release: the manifests, and two files beside them that say what the release is. */
export const payloadFiles = {
  folder: 'release-manifests',
  /** An ImageStream: name of an image → reference by digest. */
  images: 'image-references',
  /** Version, and which releases come before it. */
  metadata: 'release-metadata',
} as const;

/** Written into every object that the release brings. */
export const payloadAnnotations = {
  /** An object without it is not applied. */
  include: 'include.release.openshift.io/self-managed-high-availability',
  /** An object with it is not applied. */
  exclude: 'exclude.release.openshift.io/self-managed-high-availability',
  /** Names of capabilities with `+` between: the object is applied when all of them are enabled. */
  capability: 'capability.openshift.io/name',
  /** The object is made once, and then left alone. */
  createOnly: 'release.openshift.io/create-only',
  /** The object is removed. */
  delete: 'release.openshift.io/delete',
} as const;

/** What a cluster may have or not, in the order in which people read it. */
export const capabilityNames = ['DNS', 'Storage', 'Metrics', 'Ingress', 'Registry', 'Console'] as const;
export type CapabilityName = (typeof capabilityNames)[number];

/** `Minimal` has what most workloads take for granted, `None` only what makes it a cluster. */
export const capabilitySets = {
  Full: capabilityNames,
  Minimal: ['DNS'],
  None: [],
} as const satisfies Readonly<Record<string, readonly CapabilityName[]>>;
export type CapabilitySet = keyof typeof capabilitySets;

export interface CapabilitiesSpec {
  readonly baselineCapabilitySet?: CapabilitySet;
  readonly additionalEnabledCapabilities?: readonly CapabilityName[];
  readonly disabledCapabilities?: readonly CapabilityName[];
}

/** The capabilities that a spec enables, in the order of the table. */
export function enabledCapabilities(spec: CapabilitiesSpec = {}): readonly CapabilityName[] {
  const { baselineCapabilitySet = 'Full', additionalEnabledCapabilities = [], disabledCapabilities = [] } = spec;
  const chosen = new Set<CapabilityName>([...capabilitySets[baselineCapabilitySet], ...additionalEnabledCapabilities]);
  return capabilityNames.filter((name) => chosen.has(name) && !disabledCapabilities.includes(name));
}

export interface VersionOverride {
  readonly kind: string;
  readonly group: string;
  readonly namespace: string;
  readonly name: string;
  readonly unmanaged: boolean;
}

export interface ClusterVersionSpec {
  readonly clusterID?: string;
  readonly overrides?: readonly VersionOverride[];
  readonly capabilities?: CapabilitiesSpec;
  readonly desiredUpdate?: { readonly image?: string; readonly version?: string; readonly force?: boolean };
}

export type VersionConditionType =
  | 'Available'
  | 'Progressing'
  | 'Failing'
  | 'ReleaseAccepted'
  | 'Upgradeable'
  | 'Invalid'
  | 'ImplicitlyEnabledCapabilities'
  /** Ours: the operator in the cluster has once been through all manifests of the release, whatever came of them. */
  | 'FirstPassDone';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A condition of a ClusterVersion or a ClusterOperator, as it is written. */
export interface StatusCondition<Type extends string = string> {
  readonly type: Type;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export interface VersionHistoryEntry {
  readonly state: 'Partial' | 'Completed';
  readonly startedTime: string;
  readonly completionTime: string | null;
  readonly version: string;
  readonly image: string;
  readonly verified: boolean;
  readonly acceptedRisks?: string;
}

export interface ClusterVersionStatus {
  readonly desired: { readonly version: string; readonly image: string };
  readonly observedGeneration: number;
  /** Of the manifests of the release. */
  readonly versionHash: string;
  /** The newest first. */
  readonly history: readonly VersionHistoryEntry[];
  readonly capabilities: {
    readonly enabledCapabilities: readonly CapabilityName[];
    readonly knownCapabilities: readonly CapabilityName[];
  };
  readonly conditions: readonly StatusCondition<VersionConditionType>[];
}

export type OperatorConditionType = 'Available' | 'Progressing' | 'Degraded' | 'Upgradeable';

export interface ClusterOperatorStatus {
  readonly conditions: readonly StatusCondition<OperatorConditionType>[];
  readonly versions: readonly { readonly name: string; readonly version: string }[];
  readonly relatedObjects: readonly RelatedObject[];
}

export interface RelatedObject {
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Beside the payload in the image of the release, and no part of it: what the release itself is made of. */
export const releaseFiles = { manifest: 'release.json', billOfMaterials: 'sbom.cdx.json' } as const;
