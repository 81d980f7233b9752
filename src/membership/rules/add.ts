// When a master is added to etcd as a learner. A learner does not count for the quorum, but one that fails to start
// holds a place, so everything that can be checked before the addition is checked before.
import { type Missing, waitingFor } from '../../contract/missing.ts';
import { growthLimits } from '../growth-limits.ts';
import { type MembershipView, voterFaults } from '../membership-view.ts';
import { type MembershipRule, noChange, propose, type RuleVerdict } from '../move.ts';
import { expectedMasters, isAnswering, isMemberOf, type ObservedMaster, type Readiness } from '../observed-cluster.ts';

const { readinessLimitMs, neededDiskBytes, fsyncLimitMs, clockLimitMs, startingMs } = growthLimits;

export const addRule: MembershipRule = (view) => {
  const absent = expectedMasters(view.seen).filter((master) => !hasMember(view, master));
  if (absent.length === 0) return noChange();
  const obstacles = absent.map((master) => obstacleOf(master, view));
  const ready = absent.find((_master, index) => obstacles[index] === undefined);
  const unready = obstacles.filter((obstacle) => obstacle !== undefined);
  if (ready === undefined) return noChange(...unready);
  return proposeAddition(ready, view, unready);
};

function proposeAddition(
  { name, peerUrl }: ObservedMaster,
  view: MembershipView,
  unready: readonly Missing[],
): RuleVerdict {
  const faults = voterFaults(view);
  if (faults.length > 0) return noChange(...faults, ...unready);
  const starting = view.learners.find((each) => each.probe.status === 'unstarted' && each.unchangedMs < startingMs);
  if (starting !== undefined) {
    const node = view.nameOf(starting);
    return noChange(
      waitingFor(`etcd on ${node}`, `to start, before ${name} is added`, { machines: [node] }),
      ...unready,
    );
  }
  if (view.learners.length >= view.seen.maxLearners) {
    const names = view.learners.map((learner) => view.nameOf(learner));
    const detail = `${names.join(', ')} must be promoted or removed first`;
    return noChange(waitingFor("a learner's place", `for ${name}`, { detail, machines: [name, ...names] }), ...unready);
  }
  const via = view.via();
  return via === undefined
    ? noChange(waitingFor('a voter', `that takes the addition of ${name}`, { machines: [name] }))
    : propose({ kind: 'add', node: name, peerUrl, via });
}

function hasMember(view: MembershipView, master: ObservedMaster): boolean {
  return [...view.voters, ...view.learners].some(
    // The address alone is not enough: a cloned machine with the same address is not that member.
    (member) => isMemberOf(member, master) && (member.name === '' || member.name === master.name),
  );
}

function obstacleOf(master: ObservedMaster, view: MembershipView): Missing | undefined {
  const { name, readiness, peerUrl } = master;
  const holder = [...view.voters, ...view.learners].find((member) => isMemberOf(member, master));
  if (holder !== undefined) return waitingFor(name, `claims ${peerUrl}, which is the address of member ${holder.name}`);
  const twin = view.seen.masters.find((other) => other !== master && other.peerUrl === peerUrl);
  if (twin !== undefined) {
    const what = `and ${twin.name} claim the same address ${peerUrl}; neither is added`;
    return waitingFor(name, what, { machines: [twin.name] });
  }
  if (readiness === undefined) return waitingFor(name, 'to say that it is ready to join etcd');
  if (readiness.agoMs > readinessLimitMs) {
    const what = 'to say again that it is ready to join etcd';
    const ago = `it last did ${Math.round(readiness.agoMs / 1000)} s ago`;
    return waitingFor(name, `${what}; ${ago}`, { key: `${name} ${what}` });
  }
  if (view.seen.justRemoved.includes(peerUrl)) {
    return waitingFor('a second', `to pass before ${name} is added to etcd again`, { machines: [name] });
  }
  return machineObstacle(master, readiness, view);
}

function machineObstacle(master: ObservedMaster, readiness: Readiness, view: MembershipView): Missing | undefined {
  const { name, freeDiskBytes = 0 } = master;
  if (freeDiskBytes < neededDiskBytes) {
    const what = 'to have 1 GiB free for etcd';
    const free = `it has ${Math.floor(freeDiskBytes / 2 ** 20)} MiB`;
    return waitingFor(name, `${what}; ${free}`, { key: `${name} ${what}` });
  }
  if (readiness.fsyncP99Ms > fsyncLimitMs) {
    const detail = `writing takes ${Math.round(readiness.fsyncP99Ms)} ms, etcd bears ${fsyncLimitMs} ms`;
    return waitingFor('a faster disk', `on ${name}`, { detail, machines: [name] });
  }
  if (Math.abs(readiness.clockOffsetMs) >= clockLimitMs) {
    const seconds = (Math.abs(readiness.clockOffsetMs) / 1000).toFixed(1);
    const detail = `it is ${seconds} s ${readiness.clockOffsetMs > 0 ? 'ahead' : 'behind'}`;
    return waitingFor(`the clock of ${name}`, 'to be right', { detail, machines: [name] });
  }
  const running = isAnswering(view.leader) ? view.leader.probe.state.version : '';
  if (minorOf(readiness.etcdVersion) !== minorOf(running)) {
    const what = `to bring etcd ${minorOf(running)}, which the cluster runs; it has ${readiness.etcdVersion}`;
    return waitingFor(name, what);
  }
  return undefined;
}

function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
