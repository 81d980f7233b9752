// When the bootstrap member may be removed: the handoff is on record, and all masters vote in etcd, healthy and up to
// date. etcd itself would remove it while a master is down, which leaves two of three members.
import { type Missing, waitingFor } from '../../contract/missing.ts';
import type { MembershipView } from '../membership-view.ts';
import { type MembershipRule, noChange, propose, type RuleVerdict } from '../move.ts';
import { expectedMasters, isAnswering, isMemberOf, type ObservedMember } from '../observed-cluster.ts';
import { sameMembers } from './clear-away.ts';

const entriesBehindLimit = 1000;
const revisionsBehindLimit = 100;
const apiServersNeeded = 2;
/** When no quiet moment came for this long, none will come soon: then leadership is handed over without one. */
const slowLimitMs = 10_000;

export const removeBootstrapRule: MembershipRule = (view) => {
  const { bootstrap, voters } = view;
  if (bootstrap === undefined || bootstrap.isLearner) return noChange();
  const masters = voters.filter((member) => member !== bootstrap);
  const missing = [...etcdMissing(view, masters), ...handoffMissing(view, masters)];
  if (missing.length > 0) return noChange(...missing);
  if (mayStillServe(view, bootstrap)) {
    const detail = 'it needs its member until then';
    return noChange(waitingFor(`the API of ${view.nameOf(bootstrap)}`, 'to end', { detail }));
  }
  if (view.leader === bootstrap) return handLeadershipOver(view, masters);
  const via = view.via(bootstrap.id);
  if (via === undefined) return noChange(waitingFor('a master', 'through which the bootstrap member can be removed'));
  const { id: member, peerUrls } = bootstrap;
  return propose({ kind: 'remove', node: view.nameOf(bootstrap), member, peerUrls, because: 'bootstrap-done', via });
};

function etcdMissing(view: MembershipView, masters: readonly ObservedMember[]): readonly Missing[] {
  const { seen, learners } = view;
  const strangers = masters.filter((member) => !seen.masters.some((master) => isMemberOf(member, master)));
  const absent = expectedMasters(seen).filter((master) => !masters.some((member) => isMemberOf(member, master)));
  return [
    ...absent.map(({ name }) => waitingFor(name, 'to vote in etcd')),
    ...strangers.map((member) =>
      waitingFor(view.nameOf(member), 'to be removed from etcd', { detail: 'it votes and is no machine we know' }),
    ),
    ...masters.flatMap((member) => view.fault(member) ?? []),
    ...learners.map((learner) => {
      const name = view.nameOf(learner);
      return waitingFor(`the learner ${name}`, 'to be promoted or removed', { machines: [name] });
    }),
    ...lagMissing(view, masters),
  ];
}

function lagMissing(view: MembershipView, masters: readonly ObservedMember[]): readonly Missing[] {
  const states = masters.filter(isAnswering).map((member) => ({ name: view.nameOf(member), ...member.probe.state }));
  const raftIndex = Math.max(...states.map((state) => state.raftIndex));
  const revision = Math.max(...states.map((state) => state.revision));
  return states.flatMap(({ name, ...state }) => {
    // A member that has applied more entries has made progress, so its key changes.
    const catchUp = (detail: string, from: number): Missing =>
      waitingFor(`etcd on ${name}`, 'to catch up', {
        detail,
        key: `etcd on ${name} to catch up from ${from}`,
        machines: [name],
      });
    const behind = raftIndex - state.raftAppliedIndex;
    if (behind >= entriesBehindLimit) return catchUp(`${behind} entries behind`, state.raftAppliedIndex);
    const revisions = revision - state.revision;
    return revisions > revisionsBehindLimit ? catchUp(`${revisions} revisions behind`, state.revision) : [];
  });
}

function handoffMissing(view: MembershipView, masters: readonly ObservedMember[]): readonly Missing[] {
  const { handoff } = view.seen;
  const machines = expectedMasters(view.seen);
  const missing: Missing[] = [];
  const needed = Math.min(apiServersNeeded, machines.length);
  const ready = machines.filter(({ name }) => handoff.readyApiServers.includes(name)).length;
  if (ready < needed) missing.push(waitingFor('the API', `on ${needed} masters; ${ready} serve it`));
  if (handoff.publishedMembers === undefined || !sameMembers(handoff.publishedMembers, masters)) {
    missing.push(waitingFor('the list of etcd endpoints', 'to name exactly the masters'));
  }
  if (!handoff.isCommitted) missing.push(waitingFor('the handoff', 'to be recorded as complete'));
  return missing;
}

/** A machine that is gone is silent too, but then its member is not healthy. */
function mayStillServe(view: MembershipView, bootstrap: ObservedMember): boolean {
  const { bootstrapApi } = view.seen.handoff;
  return bootstrapApi === 'answers' || (bootstrapApi === 'silent' && view.isHealthy(bootstrap));
}

/**
 * Removing the leader itself stops writes for a second; a handover takes a few milliseconds, in which etcd drops
 * requests. On busy processors it takes hundreds of milliseconds, so that the retry of a client is dropped too.
 * Therefore leadership is handed over after the API of the bootstrap machine has ended, when all members are quick.
 */
function handLeadershipOver(view: MembershipView, masters: readonly ObservedMember[]): RuleVerdict {
  const { leader, seen } = view;
  const [via] = leader.clientUrls;
  if (via === undefined || !view.isHealthy(leader)) {
    return noChange(waitingFor(view.nameOf(leader), 'to answer', { detail: 'it leads etcd and must hand over' }));
  }
  if (seen.slowForMs !== undefined && seen.slowForMs < slowLimitMs) {
    return noChange(waitingFor('a moment', 'when every member of etcd answers at once, to hand leadership over'));
  }
  const [steadiest] = masters.toSorted((a, b) => b.unchangedMs - a.unchangedMs);
  if (steadiest === undefined) return noChange(waitingFor('a master', 'to lead etcd'));
  return propose({ kind: 'move-leader', node: view.nameOf(steadiest), member: steadiest.id, via });
}
