// The version operator as the release brings it: level 00, before everything else. What must be there before its pod
// can run (namespace, kinds, rights) is apart from the Deployment, because the bootstrap seeds the first and applies
// the second after the handoff.
import { configurationGroup, versionOperator } from '../contract/cluster-version.ts';
import { firstlightFolder, smallProcessFlags } from '../contract/machine-paths.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { restrictedContainer, restrictedPod } from '../operators/add-on-pods.ts';
import type { ImageReference, ManifestFile } from '../operators/operator.ts';
import { valueOf } from '../operators/payload-values.ts';
import { configurationDefinitions } from './configuration-kinds.ts';
import { versionKinds } from './kinds.ts';

const { namespace, name } = versionOperator;
const labels = { 'k8s-app': name } as const;
const rbacGroup = 'rbac.authorization.k8s.io';

const namespaceObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: namespace,
    // Its pod uses the network of the machine, which nothing less allows.
    labels: { 'pod-security.kubernetes.io/enforce': 'privileged', 'pod-security.kubernetes.io/warn': 'privileged' },
  },
} as const;

/** It makes the roles of every component, and nobody may give rights that he does not have. */
const rights: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace }, automountServiceAccountToken: false },
  {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  },
];

const policyName = 'keep-clusterversion.firstlight.io';

/** Everything of the release has the ClusterVersion as its owner, and would be deleted with it. */
const protection: readonly KubernetesObject[] = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: policyName },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        resourceRules: [
          {
            apiGroups: [configurationGroup],
            apiVersions: ['*'],
            operations: ['DELETE'],
            resources: ['clusterversions'],
            scope: '*',
          },
          {
            apiGroups: ['apiextensions.k8s.io'],
            apiVersions: ['*'],
            operations: ['DELETE'],
            resources: ['customresourcedefinitions'],
            resourceNames: [`clusterversions.${configurationGroup}`],
            scope: '*',
          },
        ],
      },
      validations: [
        { expression: 'false', message: 'all that the release brought would be deleted with the ClusterVersion' },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: policyName },
    spec: { policyName, validationActions: ['Deny'] },
  },
];

/** Where the pod sees the image of the release. */
const releaseMount = '/release';

function deployment(image: string): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      // Two of them would wait for one Lease.
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(image) },
    },
  };
}

function podSpec(image: string): object {
  return {
    serviceAccountName: name,
    automountServiceAccountToken: true,
    priorityClassName: 'system-cluster-critical',
    // It brings DNS and the pod network, and can need neither.
    hostNetwork: true,
    dnsPolicy: 'Default',
    nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
    tolerations: [
      { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' },
      { key: 'node-role.kubernetes.io/master', operator: 'Exists' },
      { key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
      ...['not-ready', 'unreachable'].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 60,
      })),
    ],
    terminationGracePeriodSeconds: 15,
    securityContext: restrictedPod,
    containers: [container(image)],
    volumes: [{ name: 'release', image: { reference: valueOf('RELEASE_IMAGE'), pullPolicy: 'IfNotPresent' } }],
  };
}

function container(image: string): object {
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: [`${firstlightFolder}/bin/node`, ...smallProcessFlags, `${firstlightFolder}/dist/firstlight.mjs`],
    args: [
      'version-operator',
      'run',
      `--payload=${releaseMount}`,
      `--release-image=${valueOf('RELEASE_IMAGE')}`,
      '--node=$(NODE_NAME)',
    ],
    env: [
      { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      // Not through the Service of the API: kube-proxy may not work yet.
      { name: 'KUBERNETES_SERVICE_HOST', value: valueOf('API_HOST') },
      { name: 'KUBERNETES_SERVICE_PORT', value: valueOf('API_PORT') },
      { name: 'NODE_OPTIONS', value: '--max-semi-space-size=1 --max-old-space-size=64' },
    ],
    resources: { requests: { cpu: '20m', memory: '60Mi' } },
    securityContext: restrictedContainer,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ name: 'release', mountPath: releaseMount, readOnly: true }],
  };
}

/** As files of the payload: what must be there before its pod can run, then its Deployment alone in the last one. */
export function versionOperatorFiles(image: ImageReference): readonly ManifestFile[] {
  return [
    { name: '00_namespace', objects: [namespaceObject] },
    { name: '01_kinds', objects: versionKinds },
    // It reads objects of these kinds for the values of a cluster, and a new kind takes the API seconds.
    { name: '01_kinds-of-configuration', objects: configurationDefinitions },
    { name: '02_rights', objects: rights },
    { name: '03_protection', objects: protection },
    { name: '10_deployment', objects: [deployment(image('firstlight'))] },
  ];
}
