// The objects of the in-place bootstrapper in the cluster: namespace, kinds, rights and the DaemonSet, which are the
// release's, and the facts, which are the cluster's. The pods are root on their machines, and their account can do next
// to nothing in the cluster: the controller acts there.
import { configServerGroup, nodeAgentGroup } from '../contract/cluster-objects.ts';
import {
  type InPlaceFacts,
  inPlaceDaemonSet,
  inPlaceFactsConfigMap,
  inPlaceGroup,
  inPlaceNamespace,
  reporterAudience,
  scheduledValue,
  scheduleLabels,
} from '../contract/in-place.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { inPlaceResources } from './custom-resources.ts';
import { podPaths } from './pod/pod-paths.ts';

const namespace = inPlaceNamespace;
const labels = { app: inPlaceDaemonSet } as const;
const rbacGroup = 'rbac.authorization.k8s.io';
const read = ['get', 'list', 'watch'] as const;

/** In the order in which they are applied. `image`: of this program, by digest. */
export function inPlaceObjects(image: string): readonly KubernetesObject[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        // Its pods start units of their machine, which nothing less allows.
        labels: { 'pod-security.kubernetes.io/enforce': 'privileged', 'pod-security.kubernetes.io/warn': 'privileged' },
      },
    },
    ...inPlaceResources,
    ...['default', inPlaceDaemonSet].map((name) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace },
      automountServiceAccountToken: false,
    })),
    ...access('ipb:pod', podSubject, { inNamespace: podRules }),
    ...access('firstlight:in-place:config-server', groupOf(configServerGroup), configServerRules),
    ...access('firstlight:in-place:controller', groupOf(nodeAgentGroup), controllerRules),
    daemonSet(image),
  ];
}

/** What pods must know of their cluster; the installer writes it once. */
export function inPlaceFactsObject(facts: InPlaceFacts): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: inPlaceFactsConfigMap.name, namespace },
    data: { [inPlaceFactsConfigMap.key]: `${JSON.stringify(facts, null, 2)}\n` },
  };
}

const podSubject = { kind: 'ServiceAccount', name: inPlaceDaemonSet, namespace };
const groupOf = (name: string): object => ({ apiGroup: rbacGroup, kind: 'Group', name });

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface Rules {
  readonly inCluster?: readonly Rule[];
  readonly inNamespace: readonly Rule[];
}

const podRules: readonly Rule[] = [{ apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create'] }];

/** Strangers reach these servers: they read the Secret that a pod is to have, and write what machines report. */
const configServerRules: Rules = {
  inCluster: [
    { apiGroups: [inPlaceGroup], resources: ['inplaceattempts'], verbs: read },
    { apiGroups: [inPlaceGroup], resources: ['inplaceattempts/status'], verbs: ['patch'] },
    // Whose token a pod shows.
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  ],
  inNamespace: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
};

const controllerRules: Rules = {
  inCluster: [
    { apiGroups: [inPlaceGroup], resources: ['inplaceattempts'], verbs: [...read, 'create', 'delete'] },
    { apiGroups: [inPlaceGroup], resources: ['inplaceruns'], verbs: read },
    { apiGroups: [inPlaceGroup], resources: ['inplaceattempts/status', 'inplaceruns/status'], verbs: ['patch'] },
  ],
  inNamespace: [
    { apiGroups: [''], resources: ['secrets'], verbs: read },
    // The snapshots of nodes. They go with their attempts.
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] },
  ],
};

function access(name: string, subject: object, { inCluster = [], inNamespace }: Rules): readonly KubernetesObject[] {
  const pair = (kind: 'Role' | 'ClusterRole', place: object, rules: readonly Rule[]): readonly KubernetesObject[] => [
    { apiVersion: `${rbacGroup}/v1`, kind, metadata: { name, ...place }, rules },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: `${kind}Binding`,
      metadata: { name, ...place },
      roleRef: { apiGroup: rbacGroup, kind, name },
      subjects: [subject],
    },
  ];
  return [
    ...(inCluster.length === 0 ? [] : pair('ClusterRole', {}, inCluster)),
    ...pair('Role', { namespace }, inNamespace),
  ];
}

function daemonSet(image: string): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: inPlaceDaemonSet, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      // A new version must not end a pod in the middle of its checks.
      updateStrategy: { type: 'OnDelete' },
      template: { metadata: { labels }, spec: podSpec(image) },
    },
  };
}

/** A node with either label has a pod. */
const scheduledNodes = {
  nodeSelectorTerms: scheduleLabels.map((key) => ({
    matchExpressions: [{ key, operator: 'In', values: [scheduledValue] }],
  })),
};

function podSpec(image: string): object {
  const [workVolume, hostVolume, factsVolume, tokenVolume] = ['work', 'host', 'facts', 'token'] as const;
  return {
    serviceAccountName: inPlaceDaemonSet,
    automountServiceAccountToken: false,
    priorityClassName: 'system-node-critical',
    terminationGracePeriodSeconds: 30,
    hostPID: true,
    hostNetwork: true,
    dnsPolicy: 'Default',
    tolerations: [{ operator: 'Exists' }],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: scheduledNodes } },
    containers: [
      {
        name: inPlaceDaemonSet,
        image,
        imagePullPolicy: 'IfNotPresent',
        args: ['ipb', 'pod'],
        env: [
          { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
          { name: 'IPB_IMAGE', value: image },
        ],
        resources: { requests: { cpu: '10m', memory: '60Mi' } },
        securityContext: { privileged: true, readOnlyRootFilesystem: true },
        volumeMounts: [
          { name: hostVolume, mountPath: podPaths.host, readOnly: true },
          { name: workVolume, mountPath: podPaths.work },
          { name: factsVolume, mountPath: folderOf(podPaths.facts), readOnly: true },
          { name: tokenVolume, mountPath: folderOf(podPaths.token), readOnly: true },
        ],
      },
    ],
    volumes: [
      { name: hostVolume, hostPath: { path: '/', type: 'Directory' } },
      { name: workVolume, emptyDir: { medium: 'Memory' } },
      { name: factsVolume, configMap: { name: inPlaceFactsConfigMap.name } },
      {
        name: tokenVolume,
        projected: {
          sources: [{ serviceAccountToken: { audience: reporterAudience, expirationSeconds: 3_600, path: 'token' } }],
        },
      },
    ],
  };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
