// The objects of the registry: two servers of one program over the same files. The first only gives and asks nobody who
// he is, so that every machine can pull. The second takes as well and asks for the password.
import { nodeAgentGroup, registryNamespace, registryTrust, registryTrustKeys } from '../contract/cluster-objects.ts';
import { registryNodePorts, registryPort } from '../contract/ports.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { toYaml } from '../kubernetes/yaml.ts';
import {
  preferMachines,
  restrictedContainer,
  restrictedNamespace,
  restrictedPod,
  toleratesMasters,
} from './add-on-pods.ts';
import { valueOf } from './payload-values.ts';
import { defaultStorageClass } from './storage.ts';

const namespace = registryNamespace;
/** Of the Deployment, its account, its Service and its ConfigMap. */
export const registryName = 'registry';
export const registryVolume = 'registry-images';
const name = registryName;
const labels = { app: name } as const;

const folders = {
  images: '/var/lib/registry',
  settings: '/etc/registry/settings',
  serving: '/etc/registry/serving',
  password: '/etc/registry/password',
  users: '/etc/registry/users',
} as const;

interface Server {
  readonly name: 'pull' | 'push';
  readonly port: number;
}
const servers: readonly Server[] = [
  { name: 'pull', port: registryPort },
  { name: 'push', port: registryPort + 1 },
];

export interface RegistryPayload {
  readonly image: string;
  /** Secrets. */
  readonly certificate: string;
  readonly password: string;
}

export function registryObjects(payload: RegistryPayload): readonly KubernetesObject[] {
  return [
    restrictedNamespace(namespace),
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace },
      automountServiceAccountToken: false,
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: registryTrust.name, namespace },
      data: { [registryTrustKeys.host]: `registry.${valueOf('APPS_DOMAIN')}:${registryPort}` },
    },
    ...machineAccess,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: Object.fromEntries(servers.map((server) => [`${server.name}.yaml`, toYaml(settingsOf(server))])),
    },
    volume,
    service,
    deployment(payload),
  ];
}

/** Agents of all machines read whom to believe. */
const machineAccess: readonly KubernetesObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: registryTrust.name, namespace },
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [registryTrust.name], verbs: ['get'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: registryTrust.name, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: registryTrust.name },
    subjects: ['system:nodes', nodeAgentGroup].map((group) => ({
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Group',
      name: group,
    })),
  },
];

function settingsOf({ name: server, port }: Server): object {
  const isForPull = server === 'pull';
  return {
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: folders.images },
      ...(isForPull ? { maintenance: { readonly: { enabled: true }, uploadpurging: { enabled: false } } } : {}),
      ...(isForPull ? {} : { delete: { enabled: true } }),
    },
    http: {
      addr: `:${port}`,
      tls: {
        certificate: `${folders.serving}/tls.crt`,
        key: `${folders.serving}/tls.key`,
        minimumtls: 'tls1.2',
      },
    },
    ...(isForPull ? {} : { auth: { htpasswd: { realm: 'registry', path: `${folders.users}/htpasswd` } } }),
  };
}

const volume: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: registryVolume, namespace },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: defaultStorageClass,
    resources: { requests: { storage: '20Gi' } },
  },
};

const service: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, labels },
  spec: {
    type: 'NodePort',
    selector: labels,
    ports: servers.map(({ name: server, port }) => ({
      name: server,
      port,
      targetPort: server,
      nodePort: registryNodePorts[server],
      protocol: 'TCP',
    })),
  },
};

function deployment(payload: RegistryPayload): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      // The volume is on one machine.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(payload) },
    },
  };
}

function podSpec({ image, certificate, password }: RegistryPayload): object {
  const common = { image, imagePullPolicy: 'IfNotPresent', securityContext: restrictedContainer } as const;
  return {
    serviceAccountName: name,
    automountServiceAccountToken: false,
    tolerations: toleratesMasters,
    // Workers come and go, and the images would go with the worker that has them.
    affinity: { nodeAffinity: preferMachines('masters') },
    securityContext: { ...restrictedPod, fsGroup: restrictedPod.runAsGroup },
    initContainers: [
      {
        ...common,
        name: 'password',
        command: ['registry-password', `-from=${folders.password}`, `-to=${folders.users}/htpasswd`],
        resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
        volumeMounts: [
          { name: 'password', mountPath: folders.password, readOnly: true },
          { name: 'users', mountPath: folders.users },
        ],
      },
    ],
    containers: servers.map((server) => ({ ...common, ...container(server) })),
    volumes: [
      { name: 'images', persistentVolumeClaim: { claimName: registryVolume } },
      { name: 'settings', configMap: { name } },
      { name: 'serving', secret: { secretName: certificate, defaultMode: 0o440 } },
      { name: 'password', secret: { secretName: password, defaultMode: 0o440 } },
      { name: 'users', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    ],
  };
}

function container({ name: server, port }: Server): object {
  const isForPull = server === 'pull';
  return {
    name: server,
    args: ['serve', `${folders.settings}/${server}.yaml`],
    // Nobody collects its traces.
    env: [{ name: 'OTEL_TRACES_EXPORTER', value: 'none' }],
    ports: [{ name: server, containerPort: port }],
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '512Mi' } },
    readinessProbe: { httpGet: { path: '/', port: server, scheme: 'HTTPS' }, periodSeconds: 2 },
    volumeMounts: [
      { name: 'images', mountPath: folders.images, readOnly: isForPull },
      { name: 'settings', mountPath: folders.settings, readOnly: true },
      { name: 'serving', mountPath: folders.serving, readOnly: true },
      ...(isForPull ? [] : [{ name: 'users', mountPath: folders.users, readOnly: true }]),
    ],
  };
}
