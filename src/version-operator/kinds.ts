// The definitions of ClusterVersion and ClusterOperator, with the printer columns that tools and people know. The API
// keeps what it finds in a status: fields of another release must survive the one that does not know them.
import { capabilityNames, capabilitySets, configurationGroup } from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { type CustomKind, customResourceDefinition } from '../machine-config/crds.ts';

type Schema = CustomKind['spec'];

const text = (description: string): Schema => ({ type: 'string', description });
const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const capability: Schema = { type: 'string', enum: capabilityNames };
const capabilities = (description: string): Schema => ({
  type: 'array',
  description,
  items: capability,
  'x-kubernetes-list-type': 'atomic',
});
const statusOf = (type: string): string => `.status.conditions[?(@.type=="${type}")].status`;
const column = (name: string, jsonPath: string, type = 'string') => ({ name, type, jsonPath });

const overrides: Schema = {
  type: 'array',
  description: 'Objects of the release that are left alone. While there is one, no other release can be installed.',
  items: {
    type: 'object',
    required: ['kind', 'group', 'namespace', 'name', 'unmanaged'],
    properties: {
      kind: text('Of the object.'),
      group: text('Of its API, without the version; empty for the core of Kubernetes.'),
      namespace: text('Where it is; empty for an object without a namespace.'),
      name: text('Of the object.'),
      unmanaged: { type: 'boolean', description: 'The version operator does not touch it.' },
    },
  },
};

const clusterVersion: CustomKind = {
  group: configurationGroup,
  kind: 'ClusterVersion',
  plural: 'clusterversions',
  why: 'Which release the cluster runs, and which it is to run. There is one object, named version.',
  spec: {
    type: 'object',
    required: ['clusterID'],
    properties: {
      clusterID: text('Names the cluster among all clusters. It never changes.'),
      channel: text('Kept for tools that write it; there is no service of updates.'),
      overrides,
      capabilities: {
        type: 'object',
        description: 'What the cluster has beyond what makes it one. What was enabled once stays.',
        properties: {
          baselineCapabilitySet: {
            ...text('Where to begin.'),
            enum: Object.keys(capabilitySets),
          },
          additionalEnabledCapabilities: capabilities('Enabled besides the set.'),
          disabledCapabilities: capabilities('Not enabled although the set has them.'),
        },
      },
      desiredUpdate: {
        type: 'object',
        description: 'The release that the cluster is to run.',
        properties: {
          version: text('Of the release.'),
          image: text('Of the release, by digest.'),
          force: { type: 'boolean', description: 'Although a check speaks against it.' },
          architecture: text('Kept for tools that write it.'),
        },
      },
    },
  },
  status: anything,
  columns: [
    column('Version', '.status.history[?(@.state=="Completed")].version'),
    column('Available', statusOf('Available')),
    column('Progressing', statusOf('Progressing')),
    column('Since', '.status.conditions[?(@.type=="Progressing")].lastTransitionTime', 'date'),
    column('Status', '.status.conditions[?(@.type=="Progressing")].message'),
    { ...column('Image', '.status.desired.image'), priority: 1 },
  ],
};

const clusterOperator: CustomKind = {
  group: configurationGroup,
  kind: 'ClusterOperator',
  plural: 'clusteroperators',
  shortName: 'co',
  why: 'How a part of the cluster is, as its operator sees it.',
  spec: { ...anything, description: 'Empty: all that is said is in the status.' },
  status: anything,
  columns: [
    column('Version', '.status.versions[?(@.name=="operator")].version'),
    column('Available', statusOf('Available')),
    column('Progressing', statusOf('Progressing')),
    column('Degraded', statusOf('Degraded')),
    column('Since', '.status.conditions[?(@.type=="Available")].lastTransitionTime', 'date'),
    column('Message', '.status.conditions[?(@.type=="Available")].message'),
  ],
};

export const versionKinds: readonly KubernetesObject[] = [clusterVersion, clusterOperator].map(
  customResourceDefinition,
);
