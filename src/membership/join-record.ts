// The join record: what the agent of a master publishes about its machine, and what the membership loop reads. One
// ConfigMap per master with plain fields, so that a person can read it too.
import { z } from 'zod';
import { joinRecordName, nodeOfJoinRecord, systemNamespace } from '../contract/cluster-objects.ts';
import type { MemberId } from '../etcd/member.ts';
import type { KubernetesObject, ObjectReference } from '../kubernetes/object.ts';

export interface JoinRecord {
  readonly node: string;
  readonly address: string;
  readonly peerUrl: string;
  readonly clientUrl: string;
  /** By the clock of the machine. */
  readonly at: Date;
  /** By how much that clock is at least ahead of the clock of the API server; negative when it is behind. */
  readonly clockOffsetMs: number;
  /** Image, certificates and disk are in place and the machine is no member: etcd could start once it is added. */
  readonly isReady: boolean;
  readonly etcdVersion: string;
  readonly freeDiskBytes: number;
  readonly fsyncP99Ms: number;
  /** The member whose data this machine should have and does not have. */
  readonly lostDataOf?: MemberId;
}

export const joinLabel = 'firstlight.io/join-record';

export function joinRecordReference(node: string): ObjectReference {
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace: systemNamespace, name: joinRecordName(node) };
}

export function joinRecordObject(record: JoinRecord): KubernetesObject {
  const { node, at, lostDataOf, ...plain } = record;
  const fields = { ...plain, at: at.toISOString(), ...(lostDataOf === undefined ? {} : { lostDataOf }) };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: joinRecordName(node), namespace: systemNamespace, labels: { [joinLabel]: 'true' } },
    data: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
  };
}

const number = z.string().transform(Number).pipe(z.number());
const data = z.object({
  address: z.string().min(1),
  peerUrl: z.url(),
  clientUrl: z.url(),
  at: z.iso.datetime().transform((text) => new Date(text)),
  clockOffsetMs: number,
  isReady: z.enum(['true', 'false']).transform((text) => text === 'true'),
  etcdVersion: z.string(),
  freeDiskBytes: number,
  fsyncP99Ms: number,
  lostDataOf: z
    .string()
    .regex(/^[0-9a-f]{1,16}$/)
    .transform((text) => text as MemberId)
    .exactOptional(),
});

/** Undefined for a ConfigMap that is no join record, or a damaged one. */
export function readJoinRecord(object: KubernetesObject): JoinRecord | undefined {
  const { metadata } = object;
  const node = nodeOfJoinRecord(metadata.name);
  if (metadata.namespace !== systemNamespace || node === undefined) return undefined;
  const read = data.safeParse(object['data']);
  return read.success ? { node, ...read.data } : undefined;
}
