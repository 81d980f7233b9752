// How etcd grows, in figures: from one member on the bootstrap machine to one on every master. The rules of membership
// decide by these, and the bootstrap renders the same for people and for the program that grows etcd.
import { z } from 'zod';

/** What a master must fulfil before it is added as a learner. */
export const growthLimits = {
  /** An agent publishes "ready to join" again and again; a record older than this is not used. */
  readinessLimitMs: 30_000,
  neededDiskBytes: 2 ** 30,
  /** For the 99th percentile of what a write to the disk takes. */
  fsyncLimitMs: 500,
  clockLimitMs: 1_000,
  /** Members that start together wait seven seconds for each other's version: the next addition waits this long. */
  startingMs: 10_000,
} as const;

export const etcdScalingSchema = z.strictObject({
  /** The member that founds the cluster, and leaves it last. */
  founder: z.string(),
  /** How many vote in the end: one on every master. */
  voters: z.int().min(1),
  /** How many vote before the founder leaves. */
  votersAtMost: z.int().min(2),
  /** How many may catch up at a time. The same on every member: etcd checks it at each change. */
  maxLearners: z.int().min(1),
  /** Of a master, before it is added. */
  limits: z.record(z.string(), z.number()),
});

export type EtcdScaling = z.output<typeof etcdScalingSchema>;

/** `masters`: how many the cluster is meant to have. All may catch up together; they are promoted one by one. */
export function etcdScaling(founder: string, masters: number): EtcdScaling {
  return { founder, voters: masters, votersAtMost: masters + 1, maxLearners: masters, limits: growthLimits };
}
