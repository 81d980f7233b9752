// What all rules derive from an observation: the voters, the leader, which members are healthy, and where to send a
// change. A member is healthy when it answers, names the leader that a quorum names, has no alarm and has disk space.
import { type Missing, waitingFor } from '../contract/missing.ts';
import { hasStarted, type MemberId, quorumOf } from '../etcd/member.ts';
import { isAnswering, isMemberOf, memberName, type ObservedCluster, type ObservedMember } from './observed-cluster.ts';

/** etcd allocates its next log of 64 MiB in advance. With space for less than two logs it may start, but soon fails. */
const minimumDiskBytes = 128 * 2 ** 20;

export function isFullDisk(freeBytes: number): boolean {
  return freeBytes < minimumDiskBytes;
}

export interface MembershipView {
  readonly seen: ObservedCluster;
  readonly voters: readonly ObservedMember[];
  readonly learners: readonly ObservedMember[];
  readonly leader: ObservedMember;
  readonly bootstrap: ObservedMember | undefined;
  readonly nameOf: (member: ObservedMember) => string;
  /** What is wrong with a member; undefined when it is healthy. */
  readonly fault: (member: ObservedMember) => Missing | undefined;
  readonly isHealthy: (member: ObservedMember) => boolean;
  /** Where to send a change: the leader where possible, never the member that the change is about. */
  readonly via: (about?: MemberId) => string | undefined;
}

/** The view, or what is missing for the members to agree on anything now. */
export function membershipView(seen: ObservedCluster): MembershipView | { readonly missing: Missing } {
  if (seen.membership.status === 'unreadable') return { missing: seen.membership.missing };
  const members = seen.membership.members.toSorted((a, b) => (memberName(a, seen) < memberName(b, seen) ? -1 : 1));
  const voters = members.filter((member) => !member.isLearner);
  const leader = agreedLeader(voters);
  if (leader === undefined) return { missing: noLeader(voters, seen) };
  const fault = (member: ObservedMember): Missing | undefined => faultOf(member, leader, seen);
  const isHealthy = (member: ObservedMember): boolean => fault(member) === undefined;
  return {
    seen,
    voters,
    learners: members.filter((member) => member.isLearner),
    leader,
    bootstrap: members.find((member) => isMemberOf(member, seen.bootstrap)),
    nameOf: (member) => memberName(member, seen),
    fault,
    isHealthy,
    via: (about) => [leader, ...voters].find((member) => member.id !== about && isHealthy(member))?.clientUrls[0],
  };
}

/** What is wrong with the voters, one value for each that is not healthy. */
export function voterFaults(view: MembershipView): readonly Missing[] {
  return view.voters.flatMap((member) => view.fault(member) ?? []);
}

/** Whether a majority of these voters is proven alive now. */
export function keepsQuorum(view: MembershipView, voters: readonly ObservedMember[]): boolean {
  return voters.filter(view.isHealthy).length >= quorumOf(voters.length);
}

function agreedLeader(voters: readonly ObservedMember[]): ObservedMember | undefined {
  const named = voters.filter(isAnswering).map((member) => member.probe.state.leader);
  return voters.find(({ id }) => named.filter((leader) => leader === id).length >= quorumOf(voters.length));
}

function noLeader(voters: readonly ObservedMember[], seen: ObservedCluster): Missing {
  const silent = voters.filter(({ probe }) => probe.status === 'silent');
  const detail = silent.flatMap((member) =>
    member.probe.status === 'silent' ? `${memberName(member, seen)} ${member.probe.why}` : [],
  );
  return waitingFor('a leader', `that ${quorumOf(voters.length)} of ${voters.length} etcd voters agree on`, {
    machines: silent.map((member) => memberName(member, seen)),
    ...(detail.length === 0 ? {} : { detail: detail.join(', ') }),
  });
}

function faultOf(member: ObservedMember, leader: ObservedMember, seen: ObservedCluster): Missing | undefined {
  const name = memberName(member, seen);
  const fault = (what: string, key = what): Missing =>
    waitingFor(`etcd on ${name}`, what, { key: `etcd on ${name} ${key}`, machines: [name] });
  // Checked first, because a full disk can cause every other fault.
  const { freeDiskBytes } = seen.masters.find((master) => isMemberOf(member, master)) ?? {};
  if (freeDiskBytes !== undefined && isFullDisk(freeDiskBytes)) {
    const left = Math.floor(freeDiskBytes / 2 ** 20);
    return fault(`has ${left} MiB of disk left and cannot stay alive on them`, 'has no disk left');
  }
  if (!isAnswering(member)) {
    if (member.probe.status === 'silent') return fault(member.probe.why);
    return fault('was added and has not started');
  }
  const { state } = member.probe;
  const alarm = state.alarms.find((alarm) => alarm.member === member.id);
  if (alarm?.kind === 'NOSPACE') return fault('has used up its space (alarm NOSPACE)');
  if (alarm !== undefined) return fault(`found its data damaged (alarm ${alarm.kind})`);
  if (!hasStarted(member)) return fault('answers but has not published its name yet');
  if (state.leader === leader.id) return undefined;
  return state.leader === undefined
    ? fault('knows no leader')
    : fault(`follows another leader than ${memberName(leader, seen)}`);
}
