import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyObservedCluster, cluster } from '../../test/arbitrary/observed-cluster.ts';
import { waitingFor } from '../contract/missing.ts';
import { quorumOf } from '../etcd/member.ts';
import type { Move } from './move.ts';
import { nextMove } from './next-move.ts';
import type { ObservedCluster } from './observed-cluster.ts';

test('nothing is done without a linearizable list', () => {
  const missing = waitingFor('a majority of etcd that answers');
  const seen = cluster([], { membership: { status: 'unreadable', missing } });
  expect(nextMove(seen)).toEqual({
    kind: 'waiting',
    stage: 'unreadable',
    missing: [missing],
  });
});

test('whatever is observed, no move breaks an invariant, and no wait is without a reason', () => {
  fc.assert(
    fc.property(anyObservedCluster, (seen) => {
      const next = nextMove(seen);
      if (next.kind === 'waiting') expect(next.missing.length > 0 || next.stage === 'steady').toBe(true);
      else assertSafe(next, seen);
    }),
    { numRuns: 5000 },
  );
});

function assertSafe(next: Move, seen: ObservedCluster): void {
  const members = seen.membership.status === 'read' ? seen.membership.members : [];
  const about = next.kind === 'add' ? undefined : members.find(({ id }) => id === next.member)!;
  const before = members.filter((member) => !member.isLearner);
  const after =
    next.kind === 'promote'
      ? [...before, about!]
      : before.filter((member) => next.kind !== 'remove' || member !== about);
  const alive = after.filter((member) => member.probe.status === 'answers');
  expect(alive.length).toBeGreaterThanOrEqual(quorumOf(after.length));
  if (next.kind === 'promote') expect(alive).toEqual(after);
  if (next.kind === 'add') expect(members.some((member) => member.peerUrls.includes(next.peerUrl))).toBe(false);
  if (next.kind === 'remove' && about!.name === 'bootstrap') {
    expect(seen.handoff.isCommitted).toBe(true);
    expect(alive).toEqual(after);
    expect(members.some((member) => member.isLearner)).toBe(false);
  }
  if (next.kind === 'remove') {
    expect(about!.clientUrls).not.toContain(next.via);
    expect(about!.probe.status !== 'answers' || next.because === 'bootstrap-done').toBe(true);
  }
}
