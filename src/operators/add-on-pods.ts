// What the pods of add-ons have in common: rights of their own account and no others, the security context that the
// strictest policy of Kubernetes asks for, and a place on any machine that is not a master if there is one. They have
// no priority above that of users: what makes a cluster one comes first, and the scheduler decides about the rest.
import type { KubernetesObject } from '../kubernetes/object.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

export interface AccountRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface AccountRights {
  readonly inCluster?: readonly AccountRule[];
  readonly inNamespace?: readonly AccountRule[];
}

interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** An account with exactly these rights, as the objects that give them. */
export function accountWithRights(account: Account, rights: AccountRights): readonly KubernetesObject[] {
  const { namespace, name } = account;
  const roleName = `firstlight:${name}`;
  const { inCluster = [], inNamespace = [] } = rights;
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    ...(inCluster.length === 0 ? [] : [role('ClusterRole', { name: roleName }, inCluster)]),
    ...(inCluster.length === 0 ? [] : [bindingOf(account, { kind: 'ClusterRole', name: roleName })]),
    ...(inNamespace.length === 0 ? [] : [role('Role', { name: roleName, namespace }, inNamespace)]),
    ...(inNamespace.length === 0 ? [] : [bindingOf(account, { kind: 'Role', name: roleName, namespace })]),
  ];
}

function role(
  kind: 'Role' | 'ClusterRole',
  metadata: KubernetesObject['metadata'],
  rules: readonly AccountRule[],
): KubernetesObject {
  return { apiVersion: `${rbacGroup}/v1`, kind, metadata, rules };
}

interface RoleToBind {
  readonly kind: 'Role' | 'ClusterRole';
  readonly name: string;
  /** Of a Role, and of its binding. */
  readonly namespace?: string;
  /** Of the binding. Default: that of the role. */
  readonly binding?: string;
}

export function bindingOf(account: Account, { kind, name, namespace, binding = name }: RoleToBind): KubernetesObject {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: kind === 'Role' ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: { name: binding, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: rbacGroup, kind, name },
    subjects: [{ kind: 'ServiceAccount', name: account.name, namespace: account.namespace }],
  };
}

/** A namespace in which only pods of the strictest policy run. */
export function restrictedNamespace(name: string): KubernetesObject {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

/** `nobody`, whom every image of the release knows by name. */
export const addOnUser = 65_534;

export const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: addOnUser,
  runAsGroup: addOnUser,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
} as const;

const controlPlaneLabel = 'node-role.kubernetes.io/control-plane';

/** On masters too, so that a cluster without workers has its add-ons. */
export const toleratesMasters: readonly object[] = [{ key: controlPlaneLabel, effect: 'NoSchedule' }];

/** Which machines are taken first; others are as good when those are full or not there. */
export function preferMachines(which: 'workers' | 'masters'): object {
  const operator = which === 'masters' ? 'Exists' : 'DoesNotExist';
  const preference = { matchExpressions: [{ key: controlPlaneLabel, operator }] };
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, preference }] };
}

/** Replicas are on different machines where there are enough of them. */
export function apartFrom(labels: Readonly<Record<string, string>>): object {
  const podAffinityTerm = { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' };
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] };
}
