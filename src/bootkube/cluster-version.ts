// The ClusterVersion object: which release the cluster runs. It keeps the original name and schema, because existing
// tools read it. Its status says what was seen of the release in the cluster, and nothing else.
import { join } from 'node:path';
import type { KubernetesClient } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { digestOfRecord } from '../workflow/digest.ts';
import type { BootkubeContext } from './context.ts';
import { stageFolder, treeDigests } from './render-stage.ts';

const conditionColumn = (type: string) =>
  ({ name: type, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].status` }) as const;

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
          { name: 'Version', type: 'string', jsonPath: '.status.history[?(@.state=="Completed")].version' },
          conditionColumn('Available'),
          conditionColumn('Progressing'),
          { name: 'Since', type: 'date', jsonPath: '.status.conditions[?(@.type=="Progressing")].lastTransitionTime' },
          { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Progressing")].message' },
          { name: 'Image', type: 'string', jsonPath: '.status.desired.image', priority: 1 },
        ],
      },
    ],
  },
} as const;

export interface ClusterVersion extends KubernetesObject {
  readonly spec?: { readonly clusterID?: string; readonly overrides?: readonly object[] };
  readonly status?: Partial<VersionStatus>;
}

export const clusterVersionReference = {
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterVersion',
  name: 'version',
} as const;

/** Without a status: that is observed once there is something to observe. */
export function clusterVersion({ clusterId }: Pick<BootkubeContext, 'clusterId'>): object {
  const { apiVersion, kind, name } = clusterVersionReference;
  return { apiVersion, kind, metadata: { name }, spec: { clusterID: clusterId } };
}

interface VersionCondition {
  readonly type: 'Available' | 'Progressing' | 'Failing';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

interface VersionStatus {
  readonly desired: { readonly version: string; readonly image: string };
  readonly observedGeneration: number;
  /** Of what the release brings to the API. */
  readonly versionHash: string;
  readonly history: readonly {
    readonly state: 'Partial' | 'Completed';
    readonly startedTime: string;
    readonly completionTime: string | null;
    readonly version: string;
    readonly image: string;
    readonly verified: boolean;
  }[];
  readonly conditions: readonly VersionCondition[];
}

export interface VersionFacts {
  readonly version: string;
  /** Of the release, by digest. */
  readonly image: string;
  readonly versionHash: string;
  /** What of the release is not in the cluster yet, or does not work. Empty: nothing. */
  readonly missing: readonly string[];
  /** The last attempt to bring it has failed. */
  readonly hasFailed: boolean;
  readonly now: Date;
}

/** The status that follows from what was seen. A condition that stays as it was keeps its time. */
export function versionStatus({ metadata, status: before }: ClusterVersion, facts: VersionFacts): VersionStatus {
  const { version, image, missing, hasFailed } = facts;
  const now = facts.now.toISOString();
  const isComplete = missing.length === 0;
  const [last] = before?.history ?? [];
  const isSame = last?.image === image;
  const said = missing.join('; ');
  const condition = (type: VersionCondition['type'], isSo: boolean, words: { reason: string; message: string }) => {
    const status = isSo ? ('True' as const) : ('False' as const);
    const known = before?.conditions?.find((each) => each.type === type && each.status === status);
    return { type, status, ...words, lastTransitionTime: known?.lastTransitionTime ?? now };
  };
  const works = { reason: 'AsExpected', message: `release ${version} is applied and works` };
  const waits = { reason: 'Missing', message: `of release ${version} is missing: ${said}` };
  return {
    desired: { version, image },
    observedGeneration: Number(metadata['generation'] ?? 0),
    versionHash: facts.versionHash,
    history: [
      {
        state: isComplete ? 'Completed' : 'Partial',
        startedTime: (isSame ? last?.startedTime : metadata.creationTimestamp) ?? now,
        completionTime: isComplete ? ((isSame ? last?.completionTime : undefined) ?? now) : null,
        version,
        image,
        verified: false,
      },
    ],
    conditions: [
      condition('Available', isComplete, isComplete ? works : waits),
      condition('Progressing', !isComplete, isComplete ? works : waits),
      condition('Failing', hasFailed, hasFailed ? waits : { reason: 'AsExpected', message: 'no attempt has failed' }),
    ],
  };
}

/** Writes what was seen into the status of the cluster's ClusterVersion. */
export async function reportVersion(
  context: BootkubeContext,
  client: KubernetesClient,
  seen: Pick<VersionFacts, 'missing' | 'hasFailed'>,
): Promise<void> {
  const { host, folders, release } = context;
  const brought = await treeDigests(
    host.files,
    join(folders.render, stageFolder({ number: 6, name: 'version-operator' })),
  );
  const live = await client.get<ClusterVersion>(clusterVersionReference);
  const status = versionStatus(live, {
    version: release.version,
    image: context.bootedRelease ?? '',
    versionHash: digestOfRecord(brought),
    now: host.clock.now(),
    ...seen,
  });
  await client.mergePatch(clusterVersionReference, { status }, { subresource: 'status' });
}
