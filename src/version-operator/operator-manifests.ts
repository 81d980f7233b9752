// What the release brings for the version operator itself: the kinds that it writes, its namespace and rights, and its
// Deployment.
import { configurationGroup, payloadFiles, versionOperator } from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { ImageReference, ManifestFile } from '../operators/operator.ts';
import { valueOf } from '../operators/payload-values.ts';

const { name, namespace } = versionOperator;
const rbac = 'rbac.authorization.k8s.io';

/** In the order in which they are applied; `image`: of this program. */
export function versionOperatorFiles(image: ImageReference): readonly ManifestFile[] {
  return [
    { name: '01_kinds', objects: [clusterVersionCrd, clusterOperatorCrd] },
    { name: '02_rights', objects: rights },
    { name: '03_deployment', objects: [deployment(image('firstlight'))] },
  ];
}

const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const conditionColumn = (type: string): object => ({
  name: type,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
});
const since: object = {
  name: 'Since',
  type: 'date',
  jsonPath: '.status.conditions[?(@.type=="Progressing")].lastTransitionTime',
};

function definition(kind: string, spec: object, columns: readonly object[]): KubernetesObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${configurationGroup}` },
    spec: {
      group: configurationGroup,
      names: { kind, listKind: `${kind}List`, plural, singular },
      scope: 'Cluster',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec, status } } },
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}

const override = {
  type: 'object',
  required: ['kind', 'group', 'namespace', 'name', 'unmanaged'],
  properties: { kind: text, group: text, namespace: text, name: text, unmanaged: { type: 'boolean' } },
} as const;

const clusterVersionCrd = definition(
  'ClusterVersion',
  {
    type: 'object',
    required: ['clusterID'],
    properties: {
      clusterID: text,
      channel: text,
      desiredUpdate: status,
      capabilities: {
        type: 'object',
        properties: {
          baselineCapabilitySet: text,
          additionalEnabledCapabilities: texts,
          disabledCapabilities: texts,
        },
      },
      overrides: { type: 'array', items: override },
    },
  },
  [
    { name: 'Version', type: 'string', jsonPath: '.status.history[?(@.state=="Completed")].version' },
    conditionColumn('Available'),
    conditionColumn('Progressing'),
    since,
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Progressing")].message' },
    { name: 'Image', type: 'string', jsonPath: '.status.desired.image', priority: 1 },
  ],
);

const clusterOperatorCrd = definition('ClusterOperator', { type: 'object' }, [
  { name: 'Version', type: 'string', jsonPath: '.status.versions[?(@.name=="operator")].version' },
  conditionColumn('Available'),
  conditionColumn('Progressing'),
  conditionColumn('Degraded'),
  since,
  { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Available")].message' },
]);

const rights: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  },
];

function deployment(image: string): KubernetesObject {
  const labels = { 'k8s-app': name };
  const release = '/release';
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          hostNetwork: true,
          dnsPolicy: 'Default',
          nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
          containers: [
            {
              name,
              image,
              args: ['version-operator', 'run', '--payload', `${release}/${payloadFiles.folder}`],
              env: [
                { name: 'KUBERNETES_SERVICE_HOST', value: valueOf('API_HOST') },
                { name: 'KUBERNETES_SERVICE_PORT', value: valueOf('API_PORT') },
              ],
              volumeMounts: [{ name: 'release', mountPath: release, readOnly: true }],
            },
          ],
          volumes: [{ name: 'release', image: { reference: valueOf('RELEASE_IMAGE'), pullPolicy: 'IfNotPresent' } }],
        },
      },
    },
  };
}
