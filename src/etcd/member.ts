// What etcd says about its members, as plain data that can be printed, compared and written to a journal. Rule: an id
// is the hexadecimal text that etcd's own logs and etcdctl print. It is a uint64, so it never becomes a number.
declare const memberIdBrand: unique symbol;
declare const clusterIdBrand: unique symbol;
export type MemberId = string & { readonly [memberIdBrand]: true };
export type ClusterId = string & { readonly [clusterIdBrand]: true };

export interface Member {
  readonly id: MemberId;
  /** Empty until the member has started once. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  /** Empty until the member has started once. */
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

/** A member as `--initial-cluster` names it. */
export interface InitialMember {
  readonly name: string;
  readonly peerUrl: string;
}

export interface MemberList {
  readonly clusterId: ClusterId;
  readonly members: readonly Member[];
}

/** What one member reports about itself; nothing of it needs a quorum. */
export interface MemberStatus {
  readonly clusterId: ClusterId;
  readonly id: MemberId;
  /** Undefined while the member knows no leader. */
  readonly leader: MemberId | undefined;
  readonly version: string;
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  readonly raftTerm: number;
  readonly revision: number;
  readonly dbSizeBytes: number;
  readonly isLearner: boolean;
  readonly alarms: readonly Alarm[];
}

export type AlarmKind = 'NOSPACE' | 'CORRUPT';

export interface Alarm {
  readonly member: MemberId;
  readonly kind: AlarmKind;
}

/** From the decimal text of a uint64, as messages contain it. */
export function memberId(decimal: string): MemberId {
  return BigInt(decimal).toString(16) as MemberId;
}

export function clusterId(decimal: string): ClusterId {
  return BigInt(decimal).toString(16) as ClusterId;
}

/** The decimal text of an id, for a request. */
export function decimalOf(id: MemberId): string {
  return BigInt(`0x${id}`).toString(10);
}

/** A member has started once it has published its name; one that never did has no client URL to ask. */
export function hasStarted(member: Member): boolean {
  return member.name !== '' && member.clientUrls.length > 0;
}

/** How many voters must agree. */
export function quorumOf(voterCount: number): number {
  return Math.floor(voterCount / 2) + 1;
}
