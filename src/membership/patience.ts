// How long to pause after a refusal or while waiting, and when a refusal has lasted too long to stay quiet about.
import type { Move, MembershipWait } from './move.ts';
import type { ObservedCluster } from './observed-cluster.ts';
import type { CallOutcome } from '../etcd/outcomes.ts';

export interface Pacing {
  readonly pauseMs: number;
  /** From then on it is worth a person's attention; asking goes on all the same. */
  readonly overdueMs: number;
}

const connection: Pacing = { pauseMs: 250, overdueMs: 30_000 };
const rest: Pacing = { pauseMs: 1000, overdueMs: 15_000 };

const byOutcome: Partial<Readonly<Record<CallOutcome, Pacing>>> = {
  // etcd's own five seconds of connection; normal after every new voter.
  'unhealthy-cluster': { pauseMs: 250, overdueMs: 15_000 },
  'not-in-sync': { pauseMs: 100, overdueMs: 30_000 },
  'no-leader': connection,
  'leader-changed': connection,
  'timed-out-inside': connection,
  'no-answer': connection,
  unreachable: connection,
  stopped: connection,
  // An address that was removed within this second: its id is burnt until the second is over.
  'member-not-found': { pauseMs: 1100, overdueMs: 15_000 },
};

/** A snapshot of this many bytes per second is what a slow network still carries. */
const catchUpBytesPerMs = 20_000;

export function patienceAfter(outcome: CallOutcome, databaseBytes: number): Pacing {
  const { pauseMs, overdueMs } = byOutcome[outcome] ?? rest;
  return { pauseMs, overdueMs: outcome === 'not-in-sync' ? overdueMs + databaseBytes / catchUpBytesPerMs : overdueMs };
}

const soonMs = 100;
const tickMs = 1000;
const steadyMs = 60_000;
const learnerAttentionMs = 30_000;

/** Until the next look, unless something wakes us before. */
export function pauseWhile(waiting: MembershipWait, seen: ObservedCluster): number {
  switch (waiting.stage) {
    case 'unreadable':
      return connection.pauseMs;
    case 'growing':
      return hasFreshLearner(seen) ? soonMs : tickMs;
    case 'grown':
      return tickMs;
    case 'shrinking':
      return soonMs;
    case 'steady':
      return steadyMs;
  }
}

/** A learner that has just been added or started changes within milliseconds, and nobody tells us when. */
function hasFreshLearner({ membership }: ObservedCluster): boolean {
  if (membership.status === 'unreadable') return false;
  return membership.members.some((member) => member.isLearner && member.unchangedMs < learnerAttentionMs);
}

/** A refusal is the same as before when the same move was refused for the same reason. */
export function refusalKey(move: Move, outcome: CallOutcome): string {
  return `${move.kind} ${move.node} ${outcome}`;
}
