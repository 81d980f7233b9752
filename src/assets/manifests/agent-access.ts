// What the programs of machines may do: agents, and config servers, which strangers reach. Rules name objects wherever
// the API allows it. A rule cannot name an object that a POST creates, so the objects that agents write exist before
// (the Leases) or are made by server-side apply, where the API knows and checks the name.

import {
  agentLeases,
  configServerGroup,
  etcdEndpoints,
  inventoryConfigMap,
  joinRecordName,
  machineSecrets,
  nodeAgentGroup,
  systemNamespace,
} from '../../contract/cluster-objects.ts';
import type { Inventory } from '../../contract/inventory.ts';
import { machineConfigGroup } from '../../contract/machine-config-node.ts';
import { inventory } from '../inventory.ts';
import { clusterBinding, groupSubject } from './access.ts';
import { manifestAsset } from './manifest-asset.ts';

const namespace = systemNamespace;
const read = ['get', 'list', 'watch'] as const;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Of a path of the API that is no object. */
interface PathRule {
  readonly nonResourceURLs: readonly string[];
  readonly verbs: readonly string[];
}

export const agentAccess = manifestAsset({
  name: 'access-agents',
  why: 'Masters keep the cluster going through the API in a name of their own: they approve, label, elect and report.',
  inputs: { inventory },
  objects: ({ inventory: list }) => [
    ...groupAccess(nodeAgentGroup, 'firstlight:node-agent', { cluster: agentRules, system: systemRules(list) }),
    ...agentLeases.map((name) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
    })),
  ],
});

export const configServerAccess = manifestAsset({
  name: 'access-config-servers',
  why: 'Strangers reach the config servers of masters, so they act in a name that can do no more than their answers need.',
  inputs: {},
  objects: () =>
    groupAccess(configServerGroup, 'firstlight:config-server', {
      cluster: [
        {
          apiGroups: [machineConfigGroup],
          resources: ['machineconfigs', 'machineconfigpools', 'controllerconfigs'],
          verbs: read,
        },
        // Whether the master that asks for keys is one that runs.
        { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
      ],
      system: [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: [inventoryConfigMap.name] },
        // Single-use tokens of joining machines, whose names are random. It never deletes one: the approver does.
        { apiGroups: [''], resources: ['secrets'], verbs: [...read, 'create', 'patch'] },
        { apiGroups: [''], resources: ['events'], verbs: ['create'] },
      ],
    }),
});

/** What a group may do in the whole cluster and in our namespace. */
function groupAccess(
  group: string,
  role: string,
  rules: { readonly cluster: readonly (Rule | PathRule)[]; readonly system: readonly Rule[] },
): readonly object[] {
  return [
    { ...rbac('ClusterRole', { name: role }), rules: rules.cluster },
    clusterBinding(group, role, groupSubject(group)),
    { ...rbac('Role', { name: role, namespace }), rules: rules.system },
    roleBinding(group, role, groupSubject(group)),
  ];
}

/** kube-proxy of a worker and the agent beside it act as the node itself; what they read is on every node anyway. */
export const proxyAccess = manifestAsset({
  name: 'access-proxy',
  why: 'On a worker no second identity is needed to read Services, nodes and the inventory: the one of its kubelet may.',
  inputs: {},
  objects: () => [
    clusterBinding('firstlight:node-proxier', 'system:node-proxier', groupSubject('system:nodes')),
    { ...rbac('Role', { name: inventoryReader, namespace }), rules: [inventoryRule] },
    roleBinding(inventoryReader, inventoryReader, groupSubject('system:nodes')),
    { ...rbac('Role', { name: machineSecretsReader, namespace }), rules: [machineSecretsRule] },
    roleBinding(machineSecretsReader, machineSecretsReader, groupSubject('system:nodes')),
  ],
});

/** By it the agent of a worker checks the addresses that other nodes report. */
const inventoryReader = 'firstlight:inventory-reader';
const inventoryRule: Rule = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [inventoryConfigMap.name],
  verbs: read,
};

/** Every machine has what is in it on its disk already, or is to have it. */
const machineSecretsReader = 'firstlight:machine-secrets-reader';
const machineSecretsRule: Rule = {
  apiGroups: [''],
  resources: ['secrets'],
  resourceNames: [machineSecrets.name],
  verbs: ['get'],
};

/** The pool controller, which runs in the agent that holds its Lease. A rule cannot name what it renders. */
const rolloutRules: readonly Rule[] = [
  { apiGroups: [machineConfigGroup], resources: ['controllerconfigs'], verbs: read },
  { apiGroups: [machineConfigGroup], resources: ['kubeletconfigs'], verbs: read },
  {
    apiGroups: [machineConfigGroup],
    resources: ['machineconfigs'],
    verbs: [...read, 'create', 'update', 'patch', 'delete'],
  },
  { apiGroups: [machineConfigGroup], resources: ['machineconfigpools'], verbs: [...read, 'create', 'patch'] },
  {
    apiGroups: [machineConfigGroup],
    resources: ['machineconfigpools/status', 'kubeletconfigs/status'],
    verbs: ['patch'],
  },
  // A node is drained: its pods are asked to go, and whatever a disruption budget forbids does not happen.
  { apiGroups: [''], resources: ['pods'], verbs: read },
  { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: read },
];

const agentRules: readonly (Rule | PathRule)[] = [
  { apiGroups: [''], resources: ['nodes'], verbs: [...read, 'patch'] },
  // A request that no kubelet makes is removed.
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: [...read, 'delete'] },
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: ['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving'],
    verbs: ['approve'],
  },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ...rolloutRules,
  // What their own kube-apiserver has loaded stands in its metrics.
  { nonResourceURLs: ['/metrics'], verbs: ['get'] },
];

function systemRules({ isClosed, machines }: Inventory): readonly Rule[] {
  const masters = machines.filter((machine) => machine.role === 'master').map(({ name }) => joinRecordName(name));
  const written = { resourceNames: [...masters, etcdEndpoints.name] };
  return [
    { apiGroups: [''], resources: ['configmaps'], verbs: read },
    // In an open inventory machines join under any name, so a rule cannot name their records.
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'], ...(isClosed ? written : {}) },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'update'], resourceNames: agentLeases },
    // Single-use tokens of joining machines, whose names are random; and the keys that encrypt Secrets, published once.
    { apiGroups: [''], resources: ['secrets'], verbs: [...read, 'create', 'patch', 'delete'] },
  ];
}

function roleBinding(name: string, roleName: string, subject: object): object {
  return {
    ...rbac('RoleBinding', { name, namespace }),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: roleName },
    subjects: [subject],
  };
}

function rbac(kind: string, metadata: { readonly name: string; readonly namespace?: string }): object {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata };
}
