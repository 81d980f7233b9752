// How a node was before its attempt: an immutable ConfigMap, made before anything on the node is changed. It belongs to
// its attempt and is removed with it.
import { z } from 'zod';
import { type AttemptSpec, attemptKind, attemptName, inPlaceNamespace } from '../../contract/in-place.ts';
import { machineConfigGroup } from '../../contract/machine-config-node.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { KubernetesObject, ObjectReference } from '../../kubernetes/object.ts';
import type { InPlaceNode } from './in-place-node.ts';

const snapshotKey = 'snapshot.json';

const nodeSnapshotSchema = z.object({
  node: z.string(),
  uid: z.string(),
  /** The boot before the attempt. */
  bootId: z.string(),
  takenAt: z.iso.datetime(),
  labels: z.record(z.string(), z.string()),
  taints: z.array(
    z.object({
      key: z.string(),
      value: z.string().optional(),
      effect: z.string(),
      timeAdded: z.string().optional(),
    }),
  ),
  unschedulable: z.boolean(),
  /** Those of machine configuration. */
  annotations: z.record(z.string(), z.string()),
});
export type NodeSnapshot = z.infer<typeof nodeSnapshotSchema>;

export function snapshotReference({ node, attemptId }: AttemptSpec): ObjectReference {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: inPlaceNamespace,
    name: `snap-${attemptName(node, attemptId)}`,
  };
}

export function snapshotObject(attempt: KubernetesObject, node: InPlaceNode, takenAt: Date): KubernetesObject {
  const { apiVersion, kind, ...place } = snapshotReference(attempt['spec'] as AttemptSpec);
  const { name, uid = '' } = attempt.metadata;
  const configAnnotations = Object.entries(node.annotations).filter(([key]) =>
    key.startsWith(`${machineConfigGroup}/`),
  );
  const snapshot: NodeSnapshot = {
    node: node.name,
    uid: node.uid,
    bootId: node.bootId,
    takenAt: takenAt.toISOString(),
    labels: { ...node.labels },
    taints: [...node.taints],
    unschedulable: node.isCordoned,
    annotations: Object.fromEntries(configAnnotations),
  };
  return {
    apiVersion,
    kind,
    metadata: { ...place, ownerReferences: [{ ...attemptKind, name, uid }] },
    immutable: true,
    data: { [snapshotKey]: JSON.stringify(snapshot, null, 2) },
  };
}

/** Undefined where it is none of ours. */
export function readSnapshot(configMap: KubernetesObject | undefined): NodeSnapshot | undefined {
  const data = configMap?.['data'] as Readonly<Record<string, string>> | undefined;
  return nodeSnapshotSchema.safeParse(jsonIfValid(data?.[snapshotKey] ?? '')).data;
}
