// What admitNodes may do, and nothing beside: as roles of RBAC, bound to the group of those who may hold its Lease.
import { kubeletClientSigner, kubeletServingSigner } from './certificate-request.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { systemNamespace } from '../contract/cluster-objects.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;
const name = 'firstlight:admission';
const read = ['get', 'list', 'watch'] as const;

/** Roles and their bindings to `group`. */
export function admissionRights(group: string): readonly KubernetesObject[] {
  const subjects = [{ apiGroup, kind: 'Group', name: group }];
  const bind = (kind: 'ClusterRole' | 'Role', metadata: KubernetesObject['metadata']): KubernetesObject => ({
    apiVersion,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup, kind, name },
    subjects,
  });
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: clusterRules },
    bind('ClusterRole', { name }),
    ...Object.entries(namespaceRules).flatMap(([namespace, rules]) => [
      { apiVersion, kind: 'Role', metadata: { name, namespace }, rules },
      bind('Role', { name, namespace }),
    ]),
  ];
}

const certificates = ['certificates.k8s.io'];
const clusterRules = [
  { apiGroups: certificates, resources: ['certificatesigningrequests'], verbs: read },
  { apiGroups: certificates, resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  {
    apiGroups: certificates,
    resources: ['signers'],
    resourceNames: [kubeletClientSigner, kubeletServingSigner],
    verbs: ['approve'],
  },
  { apiGroups: [''], resources: ['nodes'], verbs: [...read, 'patch'] },
];

const namespaceRules = {
  [systemNamespace]: [
    { apiGroups: [''], resources: ['secrets'], verbs: [...read, 'create', 'patch', 'delete'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
  ],
  // Events about objects without a namespace live here.
  default: [{ apiGroups: [''], resources: ['events'], verbs: ['create'] }],
};
