// Metrics: what nodes and pods use, for `kubectl top` and for autoscalers, by metrics-server. It believes a kubelet by
// the signer of the cluster's kubelets, and kube-apiserver believes it by a signer that is made in the cluster: nobody
// skips a check.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import {
  accountWithRights,
  bindingOf,
  preferMachines,
  restrictedContainer,
  restrictedPod,
  toleratesMasters,
} from './add-on-pods.ts';
import { judgeWorkloads, type Workload, workloadSightings } from './judge-workloads.ts';
import type { ServingCertificate } from './made-secrets.ts';
import type { Operator, OperatorHealth, OperatorSight } from './operator.ts';

const name = 'metrics-server';
const namespace = systemNamespace;
const labels = { 'k8s-app': name } as const;
const port = 10_250;
const group = 'metrics.k8s.io';
const version = 'v1beta1';
const apiServiceKind = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' } as const;
const apiServiceName = `${version}.${group}`;

const certificate: ServingCertificate = {
  namespace,
  name: `${name}-tls`,
  dnsNames: [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`],
  trustedBy: [{ kind: 'APIService', name: apiServiceName }],
};

/**
 * kube-apiserver writes here which signers of clients it believes, and keeps it true. One of them is the signer of
 * kubelets, which signs what they serve with as well; the other one signs certificates that no server may use.
 */
const kubeletSigners = { configMap: 'extension-apiserver-authentication', key: 'client-ca-file' } as const;

const workloads: readonly Workload[] = [{ kind: 'Deployment', namespace, name }];

export const metricsOperator: Operator = {
  name: 'metrics',
  why: 'Who runs programs wants to see what they use, and an autoscaler must.',
  level: 50,
  capability: 'Metrics',
  images: [name],
  certificates: [certificate],
  manifests: (image) => [{ name, objects: metricsObjects(image(name)) }],
  looksAt: [...workloadSightings(workloads), { ...apiServiceKind, name: apiServiceName }],
  judge,
  relatedObjects: [
    { group: 'apps', resource: 'deployments', namespace, name },
    { group: '', resource: 'services', namespace, name },
    { group: '', resource: 'secrets', namespace, name: certificate.name },
    { group: 'apiregistration.k8s.io', resource: 'apiservices', name: apiServiceName },
  ],
};

/** Its pod may be ready while kube-apiserver cannot reach it, or does not believe it: then nobody sees metrics. */
function judge(seen: OperatorSight): OperatorHealth {
  const versions = { operator: seen.version };
  const health = judgeWorkloads(seen, workloads);
  if (!health.available.isSo) return { ...health, versions };
  const apiService = seen.objects('APIService').find(({ metadata }) => metadata.name === apiServiceName);
  const served = apiService && conditionOf(apiService, 'Available');
  if (served?.status === 'True') return { ...health, versions };
  const why = served?.message || 'kube-apiserver has not looked at it yet';
  const message = apiService ? `kube-apiserver does not serve ${group}: ${why}` : `there is no ${apiServiceName}`;
  return { ...health, available: { isSo: false, reason: 'NotServed', message }, versions };
}

function metricsObjects(image: string): readonly KubernetesObject[] {
  const account = { namespace, name };
  return [
    ...accountWithRights(account, { inCluster: clusterRules }),
    // It asks the API who its callers are and what they may, and reads whom kube-apiserver forwards requests for.
    bindingOf(account, { kind: 'ClusterRole', name: 'system:auth-delegator', binding: `firstlight:${name}:callers` }),
    bindingOf(account, {
      kind: 'Role',
      name: 'extension-apiserver-authentication-reader',
      namespace,
      binding: `firstlight:${name}:callers`,
    }),
    everybodysView,
    service,
    deployment(image),
    apiService,
  ];
}

const read = ['get', 'list', 'watch'] as const;

const clusterRules = [
  // Numbers of pods and machines, and nothing else that a kubelet can do.
  { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
  { apiGroups: [''], resources: ['nodes'], verbs: read },
  // Names and labels alone, which is what it asks for.
  { apiGroups: [''], resources: ['pods'], verbs: read },
] as const;

/** Who may read the objects of a namespace may read their numbers. */
const everybodysView: KubernetesObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: 'firstlight:metrics-reader',
    labels: Object.fromEntries(
      ['view', 'edit', 'admin'].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']),
    ),
  },
  rules: [{ apiGroups: [group], resources: ['pods', 'nodes'], verbs: ['get', 'list'] }],
};

const service: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, labels },
  spec: { selector: labels, ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 'https' }] },
};

/** The operator adds the certificate of its signer: a manifest that named one would take it away again. */
const apiService: KubernetesObject = {
  ...apiServiceKind,
  metadata: { name: apiServiceName, labels },
  spec: {
    group,
    version,
    groupPriorityMinimum: 100,
    versionPriority: 100,
    service: { name, namespace, port: 443 },
  },
};

function deployment(image: string): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(image) },
    },
  };
}

const servingFolder = '/etc/metrics-server/serving';
const kubeletSignersFolder = '/etc/metrics-server/kubelets';

function podSpec(image: string): object {
  return {
    serviceAccountName: name,
    tolerations: toleratesMasters,
    affinity: { nodeAffinity: preferMachines('workers') },
    securityContext: { ...restrictedPod, fsGroup: restrictedPod.runAsGroup },
    containers: [container(image)],
    volumes: [
      { name: 'serving', secret: { secretName: certificate.name, defaultMode: 0o440 } },
      {
        name: 'kubelets',
        configMap: { name: kubeletSigners.configMap, items: [{ key: kubeletSigners.key, path: 'ca.crt' }] },
      },
    ],
  };
}

function container(image: string): object {
  const probe = (path: string): object => ({ httpGet: { path, port: 'https', scheme: 'HTTPS' }, periodSeconds: 5 });
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      `--secure-port=${port}`,
      `--tls-cert-file=${servingFolder}/tls.crt`,
      `--tls-private-key-file=${servingFolder}/tls.key`,
      `--kubelet-certificate-authority=${kubeletSignersFolder}/ca.crt`,
      '--kubelet-preferred-address-types=InternalIP',
      '--kubelet-use-node-status-port',
      '--metric-resolution=15s',
    ],
    ports: [{ name: 'https', containerPort: port, protocol: 'TCP' }],
    resources: { requests: { cpu: '20m', memory: '48Mi' }, limits: { memory: '256Mi' } },
    livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
    // Ready when it has asked the kubelets twice.
    readinessProbe: probe('/readyz'),
    securityContext: restrictedContainer,
    volumeMounts: [
      { name: 'serving', mountPath: servingFolder, readOnly: true },
      { name: 'kubelets', mountPath: kubeletSignersFolder, readOnly: true },
    ],
  };
}
