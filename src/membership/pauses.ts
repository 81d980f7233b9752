// How long to pause after a refusal or while waiting, and after which time a refusal is reported as overdue.
import type { CallOutcome } from '../etcd/outcomes.ts';
import type { MembershipWait, Move } from './move.ts';
import type { ObservedCluster } from './observed-cluster.ts';

export interface RefusalPause {
  readonly pauseMs: number;
  /** After this time a person should look at it; the change is still tried again. */
  readonly overdueMs: number;
}

const noConnection: RefusalPause = { pauseMs: 250, overdueMs: 30_000 };
const otherRefusals: RefusalPause = { pauseMs: 1000, overdueMs: 15_000 };

const byOutcome: Partial<Readonly<Record<CallOutcome, RefusalPause>>> = {
  // etcd requires five seconds of connection; this refusal is normal after every new voter.
  'unhealthy-cluster': { pauseMs: 250, overdueMs: 15_000 },
  'not-in-sync': { pauseMs: 100, overdueMs: 30_000 },
  'no-leader': noConnection,
  'leader-changed': noConnection,
  'timed-out-inside': noConnection,
  'no-answer': noConnection,
  unreachable: noConnection,
  stopped: noConnection,
  // The address was removed within this second: its id cannot be used again before the second is over.
  'member-not-found': { pauseMs: 1100, overdueMs: 15_000 },
};

/** The speed at which even a slow network transfers a snapshot. */
const catchUpBytesPerMs = 20_000;

export function pauseAfterRefusal(outcome: CallOutcome, databaseBytes: number): RefusalPause {
  const { pauseMs, overdueMs } = byOutcome[outcome] ?? otherRefusals;
  return { pauseMs, overdueMs: outcome === 'not-in-sync' ? overdueMs + databaseBytes / catchUpBytesPerMs : overdueMs };
}

const soonMs = 100;
const tickMs = 1000;
const steadyMs = 60_000;
const learnerAttentionMs = 30_000;

/** The pause until the next look; a hint that something changed may cut it short. */
export function pauseWhileWaiting(waiting: MembershipWait, seen: ObservedCluster): number {
  switch (waiting.stage) {
    case 'unreadable':
      return noConnection.pauseMs;
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

/** A learner that was just added or started changes within milliseconds, and nothing reports that. */
function hasFreshLearner({ membership }: ObservedCluster): boolean {
  if (membership.status === 'unreadable') return false;
  return membership.members.some((member) => member.isLearner && member.unchangedMs < learnerAttentionMs);
}

/** A refusal is the same as before when the same move was refused for the same reason. */
export function refusalKey(move: Move, outcome: CallOutcome): string {
  return `${move.kind} ${move.node} ${outcome}`;
}
