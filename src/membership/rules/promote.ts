// When a learner may vote. etcd itself only checks that the learner caught up at some time, so it promotes a dead one;
// at the step from one voter to two this stops every write. The rule: all voters are healthy, the learner is alive, and
// the step from one voter to two is made only when the step to three can follow at once.
import { type Missing, waitingFor } from '../../contract/missing.ts';
import { keepsQuorum, type MembershipView, voterFaults } from '../membership-view.ts';
import { type MembershipRule, noChange, propose } from '../move.ts';
import {
  type AnsweringMember,
  expectedMasters,
  isAnswering,
  isMemberOf,
  type ObservedMaster,
  type ObservedMember,
} from '../observed-cluster.ts';

const lagLimit = 100;
const lagLimitShare = 0.1;
/** While one member votes: how long ready learners wait for masters that have not been added yet. */
const waitForOthersMs = 2000;

export const promoteRule: MembershipRule = (view) => {
  const { learners } = view;
  if (learners.length === 0) return noChange();
  const obstacles = learners.map((learner) => obstacleOf(learner, view));
  const ready = learners.filter((_learner, index) => obstacles[index] === undefined);
  const unready = obstacles.filter((obstacle) => obstacle !== undefined);
  const [first] = ready;
  if (first === undefined) return noChange(...unready);
  const faults = voterFaults(view);
  if (faults.length > 0 || !keepsQuorum(view, [...view.voters, first])) return noChange(...faults, ...unready);
  const others = othersMissing(view, ready);
  if (others !== undefined) return noChange(others, ...unready);
  const via = view.via(first.id);
  if (via === undefined) return noChange(waitingFor('a voter', `that promotes ${view.nameOf(first)}`));
  return propose({ kind: 'promote', node: view.nameOf(first), member: first.id, via });
};

function obstacleOf(learner: ObservedMember, view: MembershipView): Missing | undefined {
  const name = view.nameOf(learner);
  const master = view.seen.masters.find((master) => isMemberOf(learner, master));
  if (master === undefined) return waitingFor(name, 'is a learner on no machine we know; it is not promoted');
  if (master.isLeaving || master.isGone) return waitingFor(name, 'is leaving; it is not promoted');
  const fault = view.fault(learner);
  if (fault !== undefined) return fault;
  if (!isAnswering(learner) || !isAnswering(view.leader)) {
    return waitingFor('the leader of etcd', 'to say how far it is');
  }
  const behind = entriesBehind(learner, view.leader);
  const { raftIndex } = view.leader.probe.state;
  if (behind <= Math.max(lagLimit, raftIndex * lagLimitShare)) return undefined;
  return waitingFor(`etcd on ${name}`, 'to catch up', {
    detail: `${behind} of ${raftIndex} entries behind`,
    // A learner that has applied more entries has made progress, so its key changes.
    key: `etcd on ${name} to catch up from ${learner.probe.state.raftAppliedIndex}`,
    machines: [name],
  });
}

export function entriesBehind(member: AnsweringMember, leader: AnsweringMember): number {
  return Math.max(0, leader.probe.state.raftIndex - member.probe.state.raftAppliedIndex);
}

/**
 * With two voters no failure is tolerated, so the second is promoted only when a third can follow. A master that is
 * added later has to wait for etcd's five seconds of connection, so ready learners wait a moment for it.
 */
function othersMissing(view: MembershipView, ready: readonly ObservedMember[]): Missing | undefined {
  if (view.voters.length !== 1) return undefined;
  const isIn = (members: readonly ObservedMember[]) => (master: ObservedMaster) =>
    members.some((member) => isMemberOf(member, master));
  const joining = expectedMasters(view.seen).filter((master) => !isIn(view.voters)(master));
  const machines = ready.map((member) => view.nameOf(member));
  const names = machines.join(' and ');
  if (ready.length < Math.min(2, joining.length)) {
    return waitingFor('a second master', `to be ready to vote together with ${names}`, { machines });
  }
  const absent = joining.filter((master) => !isIn(view.learners)(master));
  const since = ready.map((member) => member.unchangedMs).toSorted((a, b) => b - a)[1] ?? 0;
  if (absent.length === 0 || since >= waitForOthersMs) return undefined;
  const others = absent.map(({ name }) => name);
  return waitingFor(`${others.join(' and ')},`, `for a moment, before ${names} vote`, { machines: others });
}
