// Everything a membership decision may depend on, as plain data: the answers of etcd, the join records of the masters,
// the state of the handoff. Rule: what is not in here must not influence a decision, and observing code never decides.
import type { Missing } from '../contract/missing.ts';
import { hasStarted, type Member, type MemberId, type MemberStatus } from '../etcd/member.ts';

/** How a member answered this time. */
export type MemberProbe =
  | { readonly status: 'answers'; readonly state: MemberStatus; readonly tookMs: number }
  /** It has started before, but is not proven alive now: `why` contains the reason. */
  | { readonly status: 'silent'; readonly why: string }
  /** Added and never started: it has no client URL to ask. */
  | { readonly status: 'unstarted' };

export interface ObservedMember extends Member {
  readonly probe: MemberProbe;
  /**
   * For how long this observer has seen `probe.status` unchanged. An observer that restarts begins at 0, so a restart
   * can lengthen a wait but never shorten one.
   */
  readonly unchangedMs: number;
}

/** A machine that is to run a member permanently. */
export interface ObservedMaster {
  readonly name: string;
  readonly peerUrl: string;
  readonly clientUrl: string;
  /** What its agent last published about joining; undefined when it never did. */
  readonly readiness: Readiness | undefined;
  /** Its agent found no data for this member, which therefore can never come back by itself. */
  readonly lostDataOf?: MemberId | undefined;
  /** Free space of the disk under its member, as its agent last published it. */
  readonly freeDiskBytes: number | undefined;
  /** Being deleted: it is not added any more. */
  readonly isLeaving: boolean;
  /** Neither a Node nor a machine exists any more. */
  readonly isGone: boolean;
}

/** "Ready to join": image, certificates and disk are in place; etcd could start as soon as its member is listed. */
export interface Readiness {
  readonly agoMs: number;
  readonly etcdVersion: string;
  /** 99th percentile of small fdatasync calls on the data folder. */
  readonly fsyncP99Ms: number;
  readonly clockOffsetMs: number;
}

/** How far the rest of the handoff is: what must be true before the bootstrap member may go. */
export interface Handoff {
  /** The record that the masters carry the cluster is written and was read back through a master. */
  readonly isCommitted: boolean;
  /** Masters whose API server is ready and uses master members only. */
  readonly readyApiServers: readonly string[];
  /**
   * Whether the API of the bootstrap machine still answers, ready or not. It uses only the bootstrap member and can
   * shut down in order only while that member exists. `silent`: no answer in time, so its state is unknown.
   */
  readonly bootstrapApi: 'answers' | 'closed' | 'silent';
  /** The members in the published endpoints; undefined before the first publication. */
  readonly publishedMembers: readonly MemberId[] | undefined;
}

/** The machine on which etcd began; its member leaves at the end of the handoff. */
export interface BootstrapMachine {
  readonly name: string;
  readonly peerUrl: string;
  readonly clientUrl: string;
}

export interface ObservedCluster {
  /** The members by a linearizable read, or why there was none: then nothing may be changed. */
  readonly membership:
    | { readonly status: 'read'; readonly members: readonly ObservedMember[] }
    | { readonly status: 'unreadable'; readonly missing: Missing };
  /** Undefined when the inventory lists none (any more): then there is no bootstrap member. */
  readonly bootstrap: BootstrapMachine | undefined;
  /** Every master of the cluster, in the order of their names. */
  readonly masters: readonly ObservedMaster[];
  /** Peer URLs that left the list about a second ago or less (`idReuseMs`), as far as this observer knows. */
  readonly justRemoved: readonly string[];
  /** For how long no look has found every voter answering quickly; undefined when this one did. */
  readonly slowForMs: number | undefined;
  readonly handoff: Handoff;
  readonly maxLearners: number;
}

/** The same facts without etcd's answers: the caller of the loop reads them again for every look. */
export type MembershipFacts = Omit<ObservedCluster, 'membership' | 'justRemoved' | 'slowForMs'>;

/** A member that answers, with its answer. */
export type AnsweringMember = ObservedMember & { readonly probe: Extract<MemberProbe, { status: 'answers' }> };

export function isAnswering(member: ObservedMember): member is AnsweringMember {
  return member.probe.status === 'answers';
}

/** False when there is no such machine. */
export function isMemberOf(member: Member, machine: { readonly peerUrl: string } | undefined): boolean {
  return machine !== undefined && member.peerUrls.includes(machine.peerUrl);
}

/** The masters that are to vote: all but those that are leaving or gone. */
export function expectedMasters(seen: Pick<ObservedCluster, 'masters'>): readonly ObservedMaster[] {
  return seen.masters.filter((master) => !master.isLeaving && !master.isGone);
}

/** The machines on which a member of etcd may run: the bootstrap machine while there is one, and every master. */
export function memberMachines({
  bootstrap,
  masters,
}: Pick<ObservedCluster, 'masters' | 'bootstrap'>): readonly (BootstrapMachine | ObservedMaster)[] {
  return bootstrap === undefined ? masters : [bootstrap, ...masters];
}

/** The machine's name, also for a member that has not published its name yet. */
export function memberName(member: Member, seen: Pick<ObservedCluster, 'masters' | 'bootstrap'>): string {
  const machine = memberMachines(seen).find((machine) => isMemberOf(member, machine));
  return machine?.name ?? (hasStarted(member) ? member.name : `member ${member.id}`);
}
