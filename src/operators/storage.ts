// Storage: the default StorageClass, whose volumes are folders of machines, by local-path-provisioner. A volume is on
// the machine of the first pod that uses it, and stays there. The provisioner makes and removes folders by a pod on
// that machine, which runs our `volume-folder` from the same image: as root, because the folder above is root's, with
// that one folder as its only mount and without a token.
import { systemNamespace } from '../contract/cluster-objects.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { toYaml } from '../kubernetes/yaml.ts';
import {
  accountWithRights,
  preferMachines,
  restrictedContainer,
  restrictedPod,
  toleratesMasters,
} from './add-on-pods.ts';
import { judgeWorkloads, type Workload, workloadSightings } from './judge-workloads.ts';
import type { Operator, OperatorHealth, OperatorSight } from './operator.ts';

const name = 'local-path-provisioner';
const namespace = systemNamespace;
const labels = { app: name } as const;
const configMap = 'local-path-config';
/** Without any right: the pods that make folders need none. */
const folderAccount = 'local-path-volume-folder';
const folderProgram = '/usr/local/bin/volume-folder';
/** Of a machine: only root gets in. */
const volumesFolder = '/var/lib/local-path-provisioner';

/** The one that a claim gets which names none; registries and others ask for it by name. */
export const defaultStorageClass = 'local-path';

const workloads: readonly Workload[] = [{ kind: 'Deployment', namespace, name }];
const storageClassKind = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' } as const;

export const storageOperator: Operator = {
  name: 'storage',
  why: 'A program that keeps something asks for a volume, and gets one without anybody making it.',
  level: 50,
  capability: 'Storage',
  images: [name],
  manifests: (image) => [{ name, objects: storageObjects(image(name)) }],
  looksAt: [...workloadSightings(workloads), { ...storageClassKind, name: defaultStorageClass }],
  judge,
  relatedObjects: [
    { group: 'apps', resource: 'deployments', namespace, name },
    { group: '', resource: 'configmaps', namespace, name: configMap },
    { group: 'storage.k8s.io', resource: 'storageclasses', name: defaultStorageClass },
  ],
};

function judge(seen: OperatorSight): OperatorHealth {
  const versions = { operator: seen.version };
  const health = judgeWorkloads(seen, workloads);
  const hasClass = seen.objects('StorageClass').some(({ metadata }) => metadata.name === defaultStorageClass);
  if (hasClass || !health.available.isSo) return { ...health, versions };
  const message = `there is no StorageClass ${defaultStorageClass}`;
  return { ...health, available: { isSo: false, reason: 'NoStorageClass', message }, versions };
}

function storageObjects(image: string): readonly KubernetesObject[] {
  return [
    ...accountWithRights({ namespace, name }, { inCluster: clusterRules, inNamespace: namespaceRules }),
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: folderAccount, namespace },
      automountServiceAccountToken: false,
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: configMap, namespace },
      data: {
        'config.json': `${JSON.stringify(configuration, null, 2)}\n`,
        'helperPod.yaml': toYaml(folderPod(image)),
      },
    },
    deployment(image),
    storageClass,
  ];
}

const read = ['get', 'list', 'watch'] as const;

const clusterRules = [
  { apiGroups: [''], resources: ['nodes', 'persistentvolumeclaims'], verbs: read },
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: [...read, 'create', 'patch', 'update', 'delete'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: read },
] as const;

/** For the pods that make folders. Who makes pods in this namespace is root on all machines, and so is such a pod. */
const namespaceRules = [
  { apiGroups: [''], resources: ['pods'], verbs: [...read, 'create', 'delete'] },
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
] as const;

/** The two commands take the place of upstream's shell scripts. */
const configuration = {
  nodePathMap: [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [volumesFolder] }],
  setupCommand: folderProgram,
  teardownCommand: folderProgram,
  cmdTimeoutSeconds: 120,
} as const;

/** The provisioner adds name, machine, mount, command and arguments; it reads the log of the container by this name. */
function folderPod(image: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'volume-folder' },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'helper-pod',
          image,
          imagePullPolicy: 'IfNotPresent',
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
          securityContext: {
            ...restrictedContainer,
            runAsUser: 0,
            // The files in a volume belong to whoever wrote them.
            capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE', 'FOWNER'] },
          },
        },
      ],
    },
  };
}

function deployment(image: string): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      // Two of them would both make the folder of a claim.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(image) },
    },
  };
}

function podSpec(image: string): object {
  return {
    serviceAccountName: name,
    tolerations: toleratesMasters,
    affinity: { nodeAffinity: preferMachines('workers') },
    securityContext: restrictedPod,
    containers: [
      {
        name,
        image,
        imagePullPolicy: 'IfNotPresent',
        args: [
          'start',
          '--config=/etc/config/config.json',
          '--helper-pod-file=/etc/config/helperPod.yaml',
          `--helper-image=${image}`,
          `--configmap-name=${configMap}`,
          `--namespace=${namespace}`,
          `--service-account-name=${folderAccount}`,
        ],
        env: [{ name: 'CONFIG_MOUNT_PATH', value: '/etc/config' }],
        resources: { requests: { cpu: '10m', memory: '24Mi' }, limits: { memory: '128Mi' } },
        securityContext: restrictedContainer,
        volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: true }],
      },
    ],
    volumes: [{ name: 'config', configMap: { name: configMap } }],
  };
}

const storageClass: KubernetesObject = {
  ...storageClassKind,
  metadata: {
    name: defaultStorageClass,
    annotations: {
      'storageclass.kubernetes.io/is-default-class': 'true',
      // Volumes of this kind take the group of a pod (fsGroup), which folders of the host do not.
      defaultVolumeType: 'local',
    },
  },
  provisioner: 'rancher.io/local-path',
  // A volume is where its pod is, so the scheduler decides first.
  volumeBindingMode: 'WaitForFirstConsumer',
  reclaimPolicy: 'Delete',
};
