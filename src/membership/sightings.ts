// What an observer remembers between two looks: since when each member has its status, and which addresses just left.
// Rule: memory changes only how long a decision waits, never which change is safe. An observer that starts with an
// empty memory waits longer.
import type { Member } from '../etcd/member.ts';
import type { MemberProbe, ObservedMember } from './observed-cluster.ts';

/** etcd computes an id from address and second: an address added again in the same second would get a removed id. */
const idReuseMs = 1100;

/** A read that a majority confirms takes a few milliseconds, and many times that where processors or disks are busy. */
const quickMs = 50;

export interface Sightings {
  /** Adds for how long each member has its status. Call it once per look, with every listed member. */
  date(members: readonly (Member & { readonly probe: MemberProbe })[], nowMs: number): readonly ObservedMember[];
  justRemoved(nowMs: number): readonly string[];
  /** For how long no look has found every voter answering quickly; undefined when this one did. Once per look. */
  slowForMs(members: readonly ObservedMember[] | undefined, nowMs: number): number | undefined;
}

export function sightings(): Sightings {
  let since = new Map<string, { readonly status: MemberProbe['status']; readonly atMs: number }>();
  let listed = new Set<string>();
  const leftAtMs = new Map<string, number>();
  let slowSinceMs: number | undefined;
  return {
    date: (members, nowMs) => {
      const urls = new Set(members.flatMap((member) => member.peerUrls));
      for (const url of listed) if (!urls.has(url)) leftAtMs.set(url, nowMs);
      listed = urls;
      const before = since;
      since = new Map(
        members.map(({ id, probe: { status } }) => {
          const known = before.get(id);
          return [id, known?.status === status ? known : { status, atMs: nowMs }];
        }),
      );
      return members.map((member) => ({ ...member, unchangedMs: nowMs - (since.get(member.id)?.atMs ?? nowMs) }));
    },
    justRemoved: (nowMs) => {
      for (const [url, atMs] of leftAtMs) if (nowMs - atMs >= idReuseMs) leftAtMs.delete(url);
      return [...leftAtMs.keys()];
    },
    slowForMs: (members, nowMs) => {
      if (members !== undefined && members.every(answersQuickly)) return (slowSinceMs = undefined);
      slowSinceMs ??= nowMs;
      return nowMs - slowSinceMs;
    },
  };
}

function answersQuickly({ isLearner, probe }: ObservedMember): boolean {
  return isLearner || (probe.status === 'answers' && probe.tookMs <= quickMs);
}
