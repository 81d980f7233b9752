// The rules of membership, in their order. Each is stricter than etcd, which promotes a dead learner and removes a
// member while another is down. Invariants: a change keeps a majority of members proven alive now; one change at a
// time; each decision is a pure function of the observation; the bootstrap member goes last and never through its own
// endpoint.
import { type Missing, missingText } from '../contract/missing.ts';
import { type MembershipView, membershipView, voterFaults } from './membership-view.ts';
import type { LivingVoter, MembershipChange, MembershipStage, MembershipWait, Move } from './move.ts';
import { expectedMasters, isMemberOf, type ObservedCluster } from './observed-cluster.ts';
import { addRule } from './rules/add.ts';
import { clearAwayRule } from './rules/clear-away.ts';
import { promoteRule } from './rules/promote.ts';
import { removeBootstrapRule } from './rules/remove-bootstrap.ts';

/** The one membership change that is safe now, or why there is none. Depends on `seen` alone. */
export function nextMove(seen: ObservedCluster): Move | MembershipWait {
  const view = membershipView(seen);
  if ('missing' in view) return { kind: 'waiting', stage: 'unreadable', missing: [view.missing] };
  // While one member votes, additions come first: with more voters etcd requires five seconds of connection first.
  const growth = view.voters.length === 1 ? [addRule, promoteRule] : [promoteRule, addRule];
  const stage = stageOf(view);
  const missing: Missing[] = stage === 'growing' ? [...voterFaults(view)] : [];
  for (const rule of [clearAwayRule, ...growth, removeBootstrapRule]) {
    const verdict = rule(view);
    if (verdict.status === 'propose') return { ...verdict.change, restsOn: livingVotersAfter(verdict.change, view) };
    // While masters are joining, the reasons to keep the bootstrap member are not reported.
    if (stage !== 'growing' || rule !== removeBootstrapRule) missing.push(...verdict.missing);
  }
  return { kind: 'waiting', stage, missing: withoutRepetition(missing) };
}

/** Several rules may wait for the same thing. */
function withoutRepetition(missing: readonly Missing[]): readonly Missing[] {
  return [...new Map(missing.map((each) => [missingText(each), each])).values()];
}

/** The members that vote after the change and are healthy now. */
function livingVotersAfter(change: MembershipChange, view: MembershipView): readonly LivingVoter[] {
  const about = change.kind === 'promote' || change.kind === 'remove' ? change.member : undefined;
  const promoted = view.learners.filter(({ id }) => change.kind === 'promote' && id === about);
  const voters = view.voters.filter(({ id }) => change.kind !== 'remove' || id !== about);
  return [...voters, ...promoted].filter(view.isHealthy).flatMap((member) => {
    const { isLearner, clientUrls } = member;
    return clientUrls.slice(0, 1).map((clientUrl) => ({ name: view.nameOf(member), clientUrl, isLearner }));
  });
}

function stageOf(view: MembershipView): MembershipStage {
  const { seen, voters, learners, bootstrap } = view;
  const isComplete = expectedMasters(seen).every((master) => voters.some((member) => isMemberOf(member, master)));
  if (!isComplete || learners.length > 0 || !voters.every((member) => member === bootstrap || view.isHealthy(member))) {
    return 'growing';
  }
  if (bootstrap === undefined) return 'steady';
  return seen.handoff.isCommitted ? 'shrinking' : 'grown';
}
