// When a useless member is removed, so that its machine (or another) can join again. The other voters must keep a
// healthy majority. Voters are removed one at a time, and only after the handoff; before it only if their data is lost.
import { type Missing, waitingFor } from '../../contract/missing.ts';
import { keepsQuorum, type MembershipView } from '../membership-view.ts';
import { type MembershipRule, noChange, propose, type RemovalReason, type RuleVerdict } from '../move.ts';
import { isMemberOf, type ObservedMember } from '../observed-cluster.ts';

const unstartedLimitMs = 60_000;
const silentLimitMs = 300_000;

export const clearAwayRule: MembershipRule = (view) => {
  const missing: Missing[] = [];
  for (const member of [...view.learners, ...view.voters]) {
    const because = removalReasonOf(member, view);
    if (because === undefined) continue;
    const verdict = proposeRemoval(member, because, view);
    if (verdict.status === 'propose') return verdict;
    missing.push(...verdict.missing);
  }
  return noChange(...missing);
};

function removalReasonOf(member: ObservedMember, view: MembershipView): RemovalReason | undefined {
  const { status } = member.probe;
  if (status === 'answers') return undefined;
  const master = view.seen.masters.find((master) => isMemberOf(member, master));
  if (status === 'unstarted') return member.unchangedMs >= unstartedLimitMs ? 'never-started' : undefined;
  if (member === view.bootstrap) return undefined;
  if (master?.lostDataOf === member.id) return 'data-lost';
  // A machine that is only missing from our facts may still exist: its member is removed after a long silence only.
  return master?.isGone === true || member.unchangedMs >= silentLimitMs ? 'dead' : undefined;
}

function proposeRemoval(member: ObservedMember, because: RemovalReason, view: MembershipView): RuleVerdict {
  const node = view.nameOf(member);
  if (!member.isLearner) {
    if (because === 'never-started') {
      const detail = 'it votes, and only that restores the majority';
      return noChange(waitingFor(`etcd on ${node}`, 'to start', { detail, machines: [node] }));
    }
    const obstacle = voterObstacle(node, because, view);
    if (obstacle !== undefined) return noChange(obstacle);
  }
  const rest = view.voters.filter((voter) => voter !== member);
  if (!keepsQuorum(view, rest)) {
    return noChange(
      waitingFor('more members that are well,', `before ${node} can be removed from etcd`, { machines: [node] }),
    );
  }
  const via = view.via(member.id);
  if (via === undefined)
    return noChange(waitingFor('a voter', `through which ${node} can be removed`, { machines: [node] }));
  return propose({ kind: 'remove', node, member: member.id, peerUrls: member.peerUrls, because, via });
}

function voterObstacle(node: string, because: RemovalReason, view: MembershipView): Missing | undefined {
  const { bootstrap, seen, learners, voters } = view;
  const about = { machines: [node] };
  if (bootstrap !== undefined) {
    // Before the handoff the majority needs every master. Only a member without data can never come back by itself.
    if (because === 'data-lost') return undefined;
    const detail = 'nobody is replaced before the handoff';
    return waitingFor(`etcd on ${node}`, 'to come back', { detail, ...about });
  }
  const [learner] = learners;
  if (learner !== undefined) return waitingFor(view.nameOf(learner), `to vote, before ${node} is replaced`, about);
  const { publishedMembers } = seen.handoff;
  const isPublished = publishedMembers !== undefined && sameMembers(publishedMembers, voters);
  if (isPublished) return undefined;
  return waitingFor('the list of etcd endpoints', `to match the voters, before ${node} is replaced`, about);
}

export function sameMembers(ids: readonly string[], members: readonly ObservedMember[]): boolean {
  return ids.length === members.length && members.every((member) => ids.includes(member.id));
}
