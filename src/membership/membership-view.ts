// One reading of an observation that all rules share: who votes, who leads, who is well, and whom to ask.
// A member is well when it answered, names the leader that a quorum names, has no alarm and a disk to write on.
import { hasStarted, type MemberId, quorumOf } from '../etcd/member.ts';
import { isAnswering, isMemberOf, memberName, type ObservedCluster, type ObservedMember } from './observed-cluster.ts';

/** etcd takes the 64 MiB of its next log in advance. With less than two of them it may start and answer, and not for long. */
const leastDiskBytes = 128 * 2 ** 20;

export function isFullDisk(freeBytes: number): boolean {
  return freeBytes < leastDiskBytes;
}

export interface MembershipView {
  readonly seen: ObservedCluster;
  readonly voters: readonly ObservedMember[];
  readonly learners: readonly ObservedMember[];
  readonly leader: ObservedMember;
  readonly bootstrap: ObservedMember | undefined;
  readonly nameOf: (member: ObservedMember) => string;
  /** What is wrong with a member, as a sentence that names it; undefined when it is well. */
  readonly ailment: (member: ObservedMember) => string | undefined;
  readonly isWell: (member: ObservedMember) => boolean;
  /** Where to send a change: the leader where possible, never the member that the change is about. */
  readonly via: (about?: MemberId) => string | undefined;
}

/** The view, or why the members cannot agree on anything now. */
export function membershipView(seen: ObservedCluster): MembershipView | { readonly why: string } {
  if (seen.membership.status === 'unreadable') return { why: seen.membership.why };
  const members = seen.membership.members.toSorted((a, b) => (memberName(a, seen) < memberName(b, seen) ? -1 : 1));
  const voters = members.filter((member) => !member.isLearner);
  const leader = agreedLeader(voters);
  if (leader === undefined) return { why: whyNoLeader(voters, seen) };
  const ailment = (member: ObservedMember): string | undefined => ailmentOf(member, leader, seen);
  const isWell = (member: ObservedMember): boolean => ailment(member) === undefined;
  return {
    seen,
    voters,
    learners: members.filter((member) => member.isLearner),
    leader,
    bootstrap: members.find((member) => isMemberOf(member, seen.bootstrap)),
    nameOf: (member) => memberName(member, seen),
    ailment,
    isWell,
    via: (about) => [leader, ...voters].find((member) => member.id !== about && isWell(member))?.clientUrls[0],
  };
}

/** What is wrong with the voters, one sentence each. */
export function votersAiling(view: MembershipView): readonly string[] {
  return view.voters.flatMap((member) => view.ailment(member) ?? []);
}

/** I1: would these voters keep a majority among members that are proven alive now? */
export function keepsQuorum(view: MembershipView, voters: readonly ObservedMember[]): boolean {
  return voters.filter(view.isWell).length >= quorumOf(voters.length);
}

function agreedLeader(voters: readonly ObservedMember[]): ObservedMember | undefined {
  const named = voters.filter(isAnswering).map((member) => member.probe.state.leader);
  return voters.find(({ id }) => named.filter((leader) => leader === id).length >= quorumOf(voters.length));
}

function whyNoLeader(voters: readonly ObservedMember[], seen: ObservedCluster): string {
  const silent = voters.flatMap((member) =>
    member.probe.status === 'silent' ? `${memberName(member, seen)} ${member.probe.why}` : [],
  );
  const needed = quorumOf(voters.length);
  const which = silent.length === 0 ? '' : `: ${silent.join(', ')}`;
  return `a leader that ${needed} of ${voters.length} etcd voters agree on${which}`;
}

function ailmentOf(member: ObservedMember, leader: ObservedMember, seen: ObservedCluster): string | undefined {
  const name = memberName(member, seen);
  // First, because it is the reason for whatever else ails it.
  const { freeDiskBytes } = seen.masters.find((master) => isMemberOf(member, master)) ?? {};
  if (freeDiskBytes !== undefined && isFullDisk(freeDiskBytes)) {
    return `etcd on ${name} has ${Math.floor(freeDiskBytes / 2 ** 20)} MiB of disk left and cannot stay alive on them`;
  }
  if (!isAnswering(member)) {
    if (member.probe.status === 'silent') return `etcd on ${name} ${member.probe.why}`;
    return `etcd on ${name} was added and has not started`;
  }
  const { state } = member.probe;
  const alarm = state.alarms.find((alarm) => alarm.member === member.id);
  if (alarm?.kind === 'NOSPACE') return `etcd on ${name} has used up its space (alarm NOSPACE)`;
  if (alarm !== undefined) return `etcd on ${name} found its data damaged (alarm ${alarm.kind})`;
  if (!hasStarted(member)) return `etcd on ${name} answers but has not published its name yet`;
  if (state.leader === leader.id) return undefined;
  return state.leader === undefined
    ? `etcd on ${name} knows no leader`
    : `etcd on ${name} follows another leader than ${memberName(leader, seen)}`;
}
