// Everything that the controls look at, as one value: what is inside the machines, what the API holds, and the asset
// folder. A part that could not be seen says why; a control never takes "not seen" for "well".
import { versionOperator } from '../contract/cluster-version.ts';
import { inPlaceDaemonSet, inPlaceNamespace } from '../contract/in-place.ts';
import type { MachineRole } from '../contract/machine-role.ts';
import type { SecurityFacts } from './inside/security-facts.ts';

export type Seen<T> =
  | { readonly status: 'seen'; readonly value: T }
  /** `isPossible`: it should have been seen. Otherwise nobody can see it from here, and its controls do not apply. */
  | { readonly status: 'unseen'; readonly reason: string; readonly isPossible: boolean };

export interface AuditFacts {
  readonly machines: readonly AuditedMachine[];
  readonly api: Seen<ApiSecurity>;
  readonly folder: readonly FolderEntry[];
  readonly now: Date;
}

export interface AuditedMachine {
  readonly name: string;
  readonly role: MachineRole;
  readonly security: Seen<SecurityFacts>;
  /** What the kubelet runs with, as it says itself (/configz). */
  readonly kubelet: Seen<KubeletSettings>;
}

/** The fields of a KubeletConfiguration that controls look at; a field that is absent has its default. */
export interface KubeletSettings {
  readonly authentication?: {
    readonly anonymous?: { readonly enabled?: boolean };
    readonly x509?: { readonly clientCAFile?: string };
  };
  readonly authorization?: { readonly mode?: string };
  readonly readOnlyPort?: number;
  readonly streamingConnectionIdleTimeout?: string;
  readonly makeIPTablesUtilChains?: boolean;
  readonly eventRecordQPS?: number;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly serverTLSBootstrap?: boolean;
  readonly rotateCertificates?: boolean;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly tlsCipherSuites?: readonly string[];
  readonly tlsMinVersion?: string;
  readonly podPidsLimit?: number;
  readonly seccompDefault?: boolean;
  readonly imagePullCredentialsVerificationPolicy?: string;
}

export interface ApiSecurity {
  readonly namespaces: readonly AuditedNamespace[];
  readonly pods: readonly AuditedPod[];
  readonly services: readonly ObjectName[];
  readonly serviceAccounts: readonly AuditedServiceAccount[];
  readonly roles: readonly AuditedRole[];
  readonly bindings: readonly AuditedBinding[];
  /** Namespaces that have a NetworkPolicy. */
  readonly networkPolicies: readonly ObjectName[];
  /** Admission policies of the cluster that decide or warn about NetworkPolicies. */
  readonly networkPolicyAnswers: readonly string[];
  /** Secrets with a token of a service account that never ends. */
  readonly lastingTokens: readonly ObjectName[];
  readonly bootstrapTokens: readonly AuditedBootstrapToken[];
  /** Requests for certificates of API clients, other than kubelets, that were signed. */
  readonly signedClients: readonly string[];
}

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export interface AuditedNamespace {
  readonly name: string;
  /** The level that its label enforces; absent where it has none. */
  readonly enforce?: string;
}

export interface AuditedServiceAccount extends ObjectName {
  readonly mountsToken: boolean;
}

export interface AuditedBootstrapToken {
  readonly name: string;
  readonly hasExpiration: boolean;
  readonly groups: readonly string[];
}

export interface AuditedPod extends ObjectName {
  readonly node: string;
  /** Of a static pod: the name of its cgroup. */
  readonly staticUid?: string;
  readonly serviceAccount: string;
  readonly mountsToken: boolean;
  readonly hostNetwork: boolean;
  readonly hostPid: boolean;
  readonly hostIpc: boolean;
  readonly hostPaths: readonly string[];
  readonly containers: readonly AuditedContainer[];
}

/**
 * A pod of the in-place bootstrapper. It is root on its node while a person has an attempt run there, and nothing less
 * would do. Who may make pods in its namespace is looked at like everywhere else (5.1.4).
 */
export function isInPlacePod({ namespace, serviceAccount }: AuditedPod): boolean {
  return namespace === inPlaceNamespace && serviceAccount === inPlaceDaemonSet;
}

/** The pod of the version operator. It brings the network of pods, so it uses that of its node, and nothing more. */
export function isVersionOperatorPod({ namespace, serviceAccount }: AuditedPod): boolean {
  return namespace === versionOperator.namespace && serviceAccount === versionOperator.name;
}

export interface AuditedContainer {
  readonly name: string;
  readonly isPrivileged: boolean;
  readonly mayEscalate: boolean;
  /** Undefined where neither pod nor container says it. */
  readonly runAsUser?: number;
  readonly runAsNonRoot: boolean;
  readonly addedCapabilities: readonly string[];
  readonly droppedCapabilities: readonly string[];
  readonly hostPorts: readonly number[];
  readonly isHostProcess: boolean;
  readonly seccompProfile?: string;
  readonly hasSecurityContext: boolean;
  /** Secrets in environment variables. */
  readonly secretVariables: readonly string[];
  /** Of a static pod: what its program is started with. */
  readonly arguments?: readonly string[];
}

export interface AccessRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface AuditedRole {
  /** Absent for a ClusterRole. */
  readonly namespace?: string;
  readonly name: string;
  readonly rules: readonly AccessRule[];
}

export interface AuditedSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface AuditedBinding {
  /** Absent for a ClusterRoleBinding. */
  readonly namespace?: string;
  readonly name: string;
  readonly role: { readonly kind: string; readonly name: string };
  readonly subjects: readonly AuditedSubject[];
}

/** A file or folder of the asset folder. */
export interface FolderEntry {
  /** Relative to the asset folder; `.` is the folder itself. */
  readonly path: string;
  readonly kind: 'file' | 'folder';
  readonly mode: number;
  readonly uid: number;
  readonly holds?: 'key' | 'certificate' | 'kubeconfig' | 'ignition';
  /** The organizations in the client certificate of a kubeconfig. */
  readonly organizations?: readonly string[];
  readonly notAfter?: string;
}
