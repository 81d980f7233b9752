// When the bootstrap member may go: the handoff is on record, and the masters carry etcd alone, all of them well and
// abreast. etcd itself would let it go with a master down, and leave two of three.
import type { MembershipView } from '../membership-view.ts';
import { move, no, type MembershipRule, type RuleVerdict } from '../move.ts';
import { isAnswering, expectedMasters, isMemberOf, type ObservedMember } from '../observed-cluster.ts';
import { sameMembers } from './clear-away.ts';

const appliedSpreadLimit = 1000;
const revisionSpreadLimit = 100;
const apiServersNeeded = 2;
/** Who has found no quiet moment for so long will not find one soon. */
const unrestLimitMs = 10_000;

export const removeBootstrapRule: MembershipRule = (view) => {
  const { bootstrap, voters } = view;
  if (bootstrap === undefined || bootstrap.isLearner) return no();
  const masters = voters.filter((member) => member !== bootstrap);
  const missing = [...etcdMissing(view, masters), ...handoffMissing(view, masters)];
  if (missing.length > 0) return no(...missing);
  if (mayStillServe(view, bootstrap))
    return no(`the API of ${view.nameOf(bootstrap)} to end: it needs its member until then`);
  if (view.leader === bootstrap) return handLeadershipOver(view, masters);
  const via = view.via(bootstrap.id);
  if (via === undefined) return no('a master through which the bootstrap member can be removed');
  const { id: member, peerUrls } = bootstrap;
  return move({ kind: 'remove', node: view.nameOf(bootstrap), member, peerUrls, because: 'bootstrap-done', via });
};

function etcdMissing(view: MembershipView, masters: readonly ObservedMember[]): readonly string[] {
  const { seen, learners } = view;
  const strangers = masters.filter((member) => !seen.masters.some((master) => isMemberOf(member, master)));
  const absent = expectedMasters(seen).filter((master) => !masters.some((member) => isMemberOf(member, master)));
  return [
    ...absent.map(({ name }) => `${name} to vote in etcd`),
    ...strangers.map((member) => `${view.nameOf(member)} to be removed from etcd: it votes and is no machine we know`),
    ...masters.flatMap((member) => view.ailment(member) ?? []),
    ...learners.map((learner) => `the learner ${view.nameOf(learner)} to be promoted or removed`),
    ...spreadMissing(view, masters),
  ];
}

function spreadMissing(view: MembershipView, masters: readonly ObservedMember[]): readonly string[] {
  const states = masters.filter(isAnswering).map((member) => ({ name: view.nameOf(member), ...member.probe.state }));
  const raftIndex = Math.max(...states.map((state) => state.raftIndex));
  const revision = Math.max(...states.map((state) => state.revision));
  return states.flatMap((state) => {
    const behind = raftIndex - state.raftAppliedIndex;
    if (behind >= appliedSpreadLimit) return `etcd on ${state.name} to catch up: ${behind} entries behind`;
    const revisions = revision - state.revision;
    return revisions > revisionSpreadLimit ? `etcd on ${state.name} to catch up: ${revisions} revisions behind` : [];
  });
}

function handoffMissing(view: MembershipView, masters: readonly ObservedMember[]): readonly string[] {
  const { handoff } = view.seen;
  const machines = expectedMasters(view.seen);
  const missing: string[] = [];
  const needed = Math.min(apiServersNeeded, machines.length);
  const ready = machines.filter(({ name }) => handoff.readyApiServers.includes(name)).length;
  if (ready < needed) missing.push(`the API on ${needed} masters; ${ready} serve it`);
  if (!handoff.isSettled) missing.push('the control plane of the masters to settle');
  if (handoff.publishedMembers === undefined || !sameMembers(handoff.publishedMembers, masters)) {
    missing.push('the list of etcd endpoints to name exactly the masters');
  }
  if (!handoff.isCommitted) missing.push('the handoff to be recorded as complete');
  return missing;
}

/** A machine that is gone says nothing either; then its member is silent too. */
function mayStillServe(view: MembershipView, bootstrap: ObservedMember): boolean {
  const { bootstrapApi } = view.seen.handoff;
  return bootstrapApi === 'answers' || (bootstrapApi === 'silent' && view.isWell(bootstrap));
}

/**
 * Removing the leader itself costs a second of writes, handing over a few milliseconds in which etcd drops what it is
 * given. Where everybody is short of processors they become hundreds, so that a client meets them with its retry too:
 * therefore after the API of the bootstrap machine has ended, and in a moment when all answer at once.
 */
function handLeadershipOver(view: MembershipView, masters: readonly ObservedMember[]): RuleVerdict {
  const { leader, seen } = view;
  const [via] = leader.clientUrls;
  if (via === undefined || !view.isWell(leader)) {
    return no(`${view.nameOf(leader)} to answer: it leads etcd and must hand over`);
  }
  if (seen.unrestMs !== undefined && seen.unrestMs < unrestLimitMs) {
    return no('a moment when every member of etcd answers at once, to hand leadership over');
  }
  const [steadiest] = masters.toSorted((a, b) => b.unchangedMs - a.unchangedMs);
  if (steadiest === undefined) return no('a master to lead etcd');
  return move({ kind: 'move-leader', node: view.nameOf(steadiest), member: steadiest.id, via });
}
