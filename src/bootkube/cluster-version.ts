// The ClusterVersion object: which release the cluster runs. It keeps the original name and schema, because existing
// tools read it.
import type { BootkubeContext } from './context.ts';

export const clusterVersionCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'clusterversions.config.openshift.io' },
  spec: {
    group: 'config.openshift.io',
    names: {
      kind: 'ClusterVersion',
      listKind: 'ClusterVersionList',
      plural: 'clusterversions',
      singular: 'clusterversion',
    },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['clusterID'],
                properties: {
                  clusterID: { type: 'string' },
                  channel: { type: 'string' },
                  desiredUpdate: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  overrides: {
                    type: 'array',
                    items: {
                      type: 'object',
                      required: ['kind', 'group', 'namespace', 'name', 'unmanaged'],
                      properties: {
                        kind: { type: 'string' },
                        group: { type: 'string' },
                        namespace: { type: 'string' },
                        name: { type: 'string' },
                        unmanaged: { type: 'boolean' },
                      },
                    },
                  },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
        additionalPrinterColumns: [
          { name: 'Version', type: 'string', jsonPath: '.status.desired.version' },
          { name: 'Image', type: 'string', jsonPath: '.status.desired.image', priority: 1 },
        ],
      },
    ],
  },
} as const;

export function clusterVersion({ release, clusterId }: Pick<BootkubeContext, 'release' | 'clusterId'>): object {
  const image = release.imageVariables['CVO_IMAGE']?.reference ?? '';
  const desired = { version: release.version, image };
  return {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterVersion',
    metadata: { name: 'version' },
    spec: { clusterID: clusterId },
    status: { desired, observedGeneration: 1, versionHash: '' },
  };
}
