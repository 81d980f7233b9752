// What etcdctl and etcdutl print as JSON, and from which member a snapshot is taken: pure functions.
import { z } from 'zod';
import { jsonIfValid } from '../host/json-if-valid.ts';

/** Zero values are left out by etcd. Ids are larger than numbers of JSON, so they are only compared with nothing. */
const endpointStatus = z.tuple([
  z.looseObject({
    Status: z.looseObject({
      header: z.looseObject({ revision: z.number().default(0) }),
      leader: z.number().default(0),
      isLearner: z.boolean().default(false),
      raftAppliedIndex: z.number().default(0),
      dbSize: z.number().default(0),
      errors: z.array(z.string()).default([]),
    }),
  }),
]);

/** One master, as its own etcd answers. */
export interface EtcdSight {
  readonly machine: string;
  readonly revision: number;
  readonly appliedIndex: number;
  readonly sizeBytes: number;
  readonly isLearner: boolean;
  /** A majority of members has elected a leader that this one follows, or is. */
  readonly hasLeader: boolean;
  readonly isCorrupt: boolean;
}

/** From `etcdctl endpoint status -w json`; undefined for anything else. */
export function readEndpointStatus(machine: string, text: string): EtcdSight | undefined {
  const read = endpointStatus.safeParse(jsonIfValid(text));
  if (!read.success) return undefined;
  const { header, leader, isLearner, raftAppliedIndex, dbSize, errors } = read.data[0].Status;
  return {
    machine,
    revision: header.revision,
    appliedIndex: raftAppliedIndex,
    sizeBytes: dbSize,
    isLearner,
    hasLeader: leader !== 0,
    isCorrupt: errors.some((error) => error.includes('CORRUPT')),
  };
}

/**
 * The member that a snapshot is taken from: one that follows a leader before one that does not, a voter before a
 * learner, and of those the one that has applied the most. Undefined where none can be trusted.
 */
export function chooseMember(seen: readonly EtcdSight[]): EtcdSight | undefined {
  return seen.filter(({ isCorrupt }) => !isCorrupt).toSorted(byWorth)[0];
}

function byWorth(one: EtcdSight, other: EtcdSight): number {
  return (
    Number(other.hasLeader) - Number(one.hasLeader) ||
    Number(one.isLearner) - Number(other.isLearner) ||
    other.appliedIndex - one.appliedIndex ||
    (one.machine < other.machine ? -1 : 1)
  );
}

const statusSchema = z.looseObject({
  hash: z.int().nonnegative(),
  revision: z.int().positive(),
  totalKey: z.int().nonnegative(),
  version: z.string().min(1),
});

export interface SnapshotStatus {
  readonly hash: number;
  readonly revision: number;
  readonly keys: number;
  readonly storageVersion: string;
}

/** From `etcdutl snapshot status -w json`; undefined for anything else. */
export function readSnapshotStatus(text: string): SnapshotStatus | undefined {
  const read = statusSchema.safeParse(jsonIfValid(text));
  if (!read.success) return undefined;
  const { hash, revision, totalKey, version } = read.data;
  return { hash, revision, keys: totalKey, storageVersion: version };
}
