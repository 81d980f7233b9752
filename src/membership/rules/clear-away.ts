// When a member that is of no use any more is removed, so that its machine (or another) can join afresh. A learner costs
// nothing; a voter only after the handoff, only while the rest keeps a majority, and one at a time.
import { keepsQuorum, type MembershipView } from '../membership-view.ts';
import { move, no, type RemovalReason, type MembershipRule, type RuleVerdict } from '../move.ts';
import { isMemberOf, type ObservedMember } from '../observed-cluster.ts';

const unstartedLimitMs = 60_000;
const silentLimitMs = 300_000;

export const clearAwayRule: MembershipRule = (view) => {
  const missing: string[] = [];
  for (const member of [...view.learners, ...view.voters]) {
    const because = uselessness(member, view);
    if (because === undefined) continue;
    const verdict = clearAway(member, because, view);
    if (verdict.status === 'move') return verdict;
    missing.push(...verdict.missing);
  }
  return no(...missing);
};

function uselessness(member: ObservedMember, view: MembershipView): RemovalReason | undefined {
  const { status } = member.probe;
  if (status === 'answers') return undefined;
  const master = view.seen.masters.find((master) => isMemberOf(member, master));
  if (status === 'unstarted') return member.unchangedMs >= unstartedLimitMs ? 'never-started' : undefined;
  if (member === view.bootstrap) return undefined;
  if (master?.lostDataOf === member.id) return 'data-lost';
  // A machine that is merely absent from what we were told may be there all the same: only time speaks against it.
  return master?.isGone === true || member.unchangedMs >= silentLimitMs ? 'dead' : undefined;
}

function clearAway(member: ObservedMember, because: RemovalReason, view: MembershipView): RuleVerdict {
  const node = view.nameOf(member);
  if (!member.isLearner) {
    if (because === 'never-started')
      return no(`etcd on ${node} to start: it votes, and only that restores the majority`);
    const obstacle = voterObstacle(node, because, view);
    if (obstacle !== undefined) return no(obstacle);
  }
  const rest = view.voters.filter((voter) => voter !== member);
  if (!keepsQuorum(view, rest)) return no(`more members that are well, before ${node} can be removed from etcd`);
  const via = view.via(member.id);
  if (via === undefined) return no(`a voter through which ${node} can be removed`);
  return move({ kind: 'remove', node, member: member.id, peerUrls: member.peerUrls, because, via });
}

function voterObstacle(node: string, because: RemovalReason, view: MembershipView): string | undefined {
  const { bootstrap, seen, learners, voters } = view;
  if (bootstrap !== undefined) {
    // Until then the masters are a majority only together; a member without data alone can never come back.
    return because === 'data-lost' ? undefined : `etcd on ${node} to come back: nobody is replaced before the handoff`;
  }
  if (learners.length > 0) return `${view.nameOf(learners[0] as ObservedMember)} to vote, before ${node} is replaced`;
  if (!seen.handoff.isSettled) return `the control plane to settle, before ${node} is replaced`;
  const { publishedMembers } = seen.handoff;
  const isPublished = publishedMembers !== undefined && sameMembers(publishedMembers, voters);
  return isPublished ? undefined : `the list of etcd endpoints to match the voters, before ${node} is replaced`;
}

export function sameMembers(ids: readonly string[], members: readonly ObservedMember[]): boolean {
  return ids.length === members.length && members.every((member) => ids.includes(member.id));
}
