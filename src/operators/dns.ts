// The names of the cluster: CoreDNS with two replicas, if possible on different machines, with a read-only root file
// system and only the rights that it needs. Its Corefile is managed; a user's own zones and servers go into the
// ConfigMap coredns-custom, which nobody else writes.
import { systemNamespace } from '../contract/cluster-objects.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { judgeWorkloads, type Workload, workloadSightings } from './judge-workloads.ts';
import type { Operator } from './operator.ts';
import { valueOf } from './payload-values.ts';

const labels = { 'k8s-app': 'kube-dns' } as const;
const name = 'coredns';
const namespace = systemNamespace;

/** The user's: every key of it that ends in `.server` is read as a part of the Corefile. */
const customConfigMap = 'coredns-custom';
const customFolder = '/etc/coredns/custom';
/** Beside the user's files: without any file CoreDNS would complain every half minute. */
const noteFile = '0-note.server';
const noteText = `# Servers of your own belong into the ConfigMap ${customConfigMap}, under keys that end in .server.\n`;

const workloads: readonly Workload[] = [{ kind: 'Deployment', namespace, name }];

export const dnsOperator: Operator = {
  name: 'dns',
  why: 'Programs find each other by names, and a Service has one from the moment it exists.',
  level: 70,
  capability: 'DNS',
  images: [name],
  manifests: (image) => [{ name, objects: coreDnsObjects(image(name)) }],
  looksAt: workloadSightings(workloads),
  judge: (seen) => ({ ...judgeWorkloads(seen, workloads), versions: { operator: seen.version } }),
  relatedObjects: [
    { group: 'apps', resource: 'deployments', namespace, name },
    { group: '', resource: 'services', namespace, name: 'kube-dns' },
    { group: '', resource: 'configmaps', namespace, name },
    { group: '', resource: 'configmaps', namespace, name: customConfigMap },
  ],
};

function coreDnsObjects(image: string): readonly KubernetesObject[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    clusterRole,
    clusterRoleBinding,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: { Corefile: corefile, [noteFile]: noteText },
    },
    deployment(image),
    budget,
    service,
  ];
}

// Every opening brace must end its line: CoreDNS does not parse a block on one line.
const corefile = `.:53 {
    errors
    health {
        lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
        max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
import ${customFolder}/*.server
`;

const clusterRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'firstlight:coredns' },
  rules: [
    { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ],
} as const;

const clusterRoleBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'firstlight:coredns' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'firstlight:coredns' },
  subjects: [{ kind: 'ServiceAccount', name, namespace }],
} as const;

function deployment(image: string): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(image) },
    },
  };
}

/** A drain that meets both replicas on one machine waits until the first is replaced. */
const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace },
  spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
} as const;

const customSources = [
  { configMap: { name, items: [{ key: noteFile, path: noteFile }] } },
  { configMap: { name: customConfigMap, optional: true } },
];

function podSpec(image: string): object {
  const otherMachine = { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' };
  return {
    priorityClassName: 'system-cluster-critical',
    serviceAccountName: name,
    // CoreDNS must also start while nodes are still being labelled, and on the masters of a cluster without workers.
    tolerations: [
      { key: 'CriticalAddonsOnly', operator: 'Exists' },
      { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
    ],
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: otherMachine }],
      },
    },
    dnsPolicy: 'Default',
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container(image)],
    volumes: [
      { name: 'config', configMap: { name, items: [{ key: 'Corefile', path: 'Corefile' }] } },
      { name: 'custom', projected: { sources: customSources } },
    ],
  };
}

function container(image: string): object {
  const probe = (path: string, port: number): object => ({
    httpGet: { path, port, scheme: 'HTTP' },
    periodSeconds: 1,
    failureThreshold: 60,
  });
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['-conf', '/etc/coredns/Corefile'],
    resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
    ports: [
      { containerPort: 53, name: 'dns', protocol: 'UDP' },
      { containerPort: 53, name: 'dns-tcp', protocol: 'TCP' },
    ],
    livenessProbe: probe('/health', 8080),
    readinessProbe: probe('/ready', 8181),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: [
      { name: 'config', mountPath: '/etc/coredns', readOnly: true },
      { name: 'custom', mountPath: customFolder, readOnly: true },
    ],
  };
}

const service: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kube-dns', namespace, labels: { ...labels, 'kubernetes.io/name': 'CoreDNS' } },
  spec: {
    selector: labels,
    clusterIP: valueOf('DNS_ADDRESS'),
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    ],
  },
};
