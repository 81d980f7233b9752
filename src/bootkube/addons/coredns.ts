// The objects of CoreDNS, the cluster's name server: two replicas, if possible on different machines, with a read-only
// root file system and only the rights that it needs.
import { systemNamespace } from '../../contract/cluster-objects.ts';
import { type BootkubeContext, releaseImage } from '../context.ts';

const labels = { 'k8s-app': 'kube-dns' } as const;
const name = 'coredns';
const namespace = systemNamespace;

export function coreDnsObjects(context: Pick<BootkubeContext, 'images' | 'names'>): readonly object[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    clusterRole,
    clusterRoleBinding,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { Corefile: corefile } },
    deployment(releaseImage(context, 'COREDNS_IMAGE')),
    budget,
    service(context.names.dnsAddress),
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

function deployment(image: string): object {
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
    volumes: [{ name: 'config', configMap: { name, items: [{ key: 'Corefile', path: 'Corefile' }] } }],
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
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
  };
}

function service(clusterIP: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace, labels: { ...labels, 'kubernetes.io/name': 'CoreDNS' } },
    spec: {
      selector: labels,
      clusterIP,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    },
  };
}
