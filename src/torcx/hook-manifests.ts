// The before-reboot hook as Kubernetes objects with the least rights that it needs: its pod may set one annotation of
// its own Node. RBAC cannot express "own" or "one annotation"; the admission policy does, by the node name that the API
// server puts into the pod's token.
import { torcxMappings, torcxMappingsKeys } from '../contract/cluster-objects.ts';
import { kubernetesFolder, podAccountFolder, systemTrust } from '../contract/machine-paths.ts';
import { nodePaths } from './context.ts';

export interface HookOptions {
  readonly image: string;
  readonly annotation: string;
  /** Of the ConfigMap with the runtime mappings too: a pod mounts only what its own namespace has. */
  readonly namespace?: string;
  /** How the pod reaches the API server. */
  readonly server?: string;
}

type KubernetesObject = Readonly<Record<string, unknown>>;

const name = 'container-linux-torcx-pre-hook';
const nodeNameClaim = 'authentication.kubernetes.io/node-name';

/** To be applied in this order: the policy must be in force before the pods run. */
export function hookManifests(options: HookOptions): readonly KubernetesObject[] {
  const namespace = options.namespace ?? torcxMappings.namespace;
  return [
    // The hook reads and writes folders of its machine, which only this level allows.
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    policy(namespace, options.annotation),
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['patch'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
    kubeconfig(namespace, options.server ?? 'https://kubernetes.default.svc'),
    daemonSet(namespace, options),
  ];
}

function policy(namespace: string, annotation: string): KubernetesObject {
  const same = (field: string): string =>
    `has(object.${field}) == has(oldObject.${field}) && (!has(object.${field}) || object.${field} == oldObject.${field})`;
  const old = 'oldObject.metadata.annotations';
  const now = 'object.metadata.annotations';
  const isKept = `(has(${old}) && key in ${old} && ${old}[key] == ${now}[key])`;
  const ownNode = `has(request.userInfo.extra) && '${nodeNameClaim}' in request.userInfo.extra && request.userInfo.extra['${nodeNameClaim}'] == [request.name]`;
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['nodes'] }],
      },
      matchConditions: [
        { name: 'the-hook', expression: `request.userInfo.username == 'system:serviceaccount:${namespace}:${name}'` },
      ],
      validations: [
        { expression: ownNode, message: 'the hook may change only the node it runs on' },
        ...['spec', 'metadata.labels', 'metadata.finalizers', 'metadata.ownerReferences'].map((field) => ({
          expression: same(field),
          message: `the hook may not change ${field}`,
        })),
        {
          expression: `!has(${now}) || ${now}.all(key, key == '${annotation}' || ${isKept})`,
          message: `the hook may set only the annotation ${annotation}`,
        },
        {
          expression: `!has(${old}) || ${old}.all(key, has(${now}) && key in ${now})`,
          message: 'the hook may not remove annotations',
        },
      ],
    },
  };
}

/** The pod's own identity in the form that --kubeconfig takes. */
function kubeconfig(namespace: string, server: string): KubernetesObject {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'here', cluster: { server, 'certificate-authority': `${podAccountFolder}/ca.crt` } }],
    users: [{ name: 'hook', user: { tokenFile: `${podAccountFolder}/token` } }],
    contexts: [{ name: 'hook', context: { cluster: 'here', user: 'hook' } }],
    'current-context': 'hook',
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-kubeconfig`, namespace },
    data: { kubeconfig: JSON.stringify(config) },
  };
}

interface NodeMount {
  readonly name: string;
  readonly path: string;
  readonly isWritten?: boolean;
  readonly type?: string;
}

const nodeMounts: readonly NodeMount[] = [
  { name: 'usr-share', path: '/usr/share' },
  { name: 'os-release', path: nodePaths.osRelease, type: 'File' },
  { name: 'ca-bundle', path: systemTrust, type: 'File' },
  { name: 'kubernetes', path: kubernetesFolder },
  { name: 'metadata', path: '/run/metadata' },
  { name: 'run-torcx', path: '/run/torcx' },
  { name: 'system-bus', path: '/var/run/dbus' },
  { name: 'syslog', path: '/dev/log', type: 'Socket' },
  { name: 'stores', path: '/var/lib/torcx', isWritten: true },
  { name: 'profiles', path: '/etc/torcx', isWritten: true },
  { name: 'lock', path: nodePaths.runFolder, isWritten: true, type: 'DirectoryOrCreate' },
];

const kubeconfigFolder = '/etc/hook';
/** The whole ConfigMap, so that a change of it reaches a hook that runs. */
const mappingsFolder = '/etc/torcx-mappings';

function daemonSet(namespace: string, options: HookOptions): KubernetesObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate' },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          nodeSelector: { 'container-linux-update.v1.coreos.com/before-reboot': 'true' },
          tolerations: ['master', 'control-plane'].map((role) => ({
            key: `node-role.kubernetes.io/${role}`,
            operator: 'Exists',
            effect: 'NoSchedule',
          })),
          containers: [container(options)],
          volumes: volumes(),
        },
      },
    },
  };
}

function container({ image, annotation }: HookOptions): KubernetesObject {
  const kubeconfigFlag = `--kubeconfig=${kubeconfigFolder}/kubeconfig`;
  return {
    name: 'hook',
    image,
    // The program is the entrypoint of the image.
    args: [
      'torcx',
      'hook-pre',
      `--node-annotation=${annotation}`,
      kubeconfigFlag,
      `--keyring=${mappingsFolder}/${torcxMappingsKeys.keyring}`,
      `--version-manifest=${mappingsFolder}/${torcxMappingsKeys.mappings}`,
      '--sleep=604800',
      '--verbose=debug',
    ],
    env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    // Root, because the stores and update_engine accept only root; without any of root's capabilities.
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [
      ...nodeMounts.map(({ name, path, isWritten }) => ({ name, mountPath: path, readOnly: isWritten !== true })),
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'mappings', mountPath: mappingsFolder, readOnly: true },
      { name: 'kubeconfig', mountPath: kubeconfigFolder, readOnly: true },
    ],
  };
}

function volumes(): readonly KubernetesObject[] {
  return [
    ...nodeMounts.map(({ name, path, type }) => ({
      name,
      hostPath: { path, ...(type === undefined ? {} : { type }) },
    })),
    { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
    { name: 'mappings', configMap: { name: torcxMappings.name } },
    { name: 'kubeconfig', configMap: { name: `${name}-kubeconfig` } },
  ];
}
