// Converts the messages of wire.ts to the values of member.ts. Our own descriptor makes these shapes certain: 64-bit
// numbers arrive as decimal text, absent fields as their defaults. Ids stay text; counters are far below 2^53.
import { type Alarm, type AlarmKind, clusterId, type Member, type MemberStatus, memberId } from './member.ts';

export const alarmNumbers: Readonly<Record<AlarmKind, number>> = { NOSPACE: 1, CORRUPT: 2 };

interface RawHeader {
  readonly clusterId: string;
  readonly memberId: string;
  readonly revision: string;
}
interface RawMember {
  readonly ID: string;
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  readonly isLearner: boolean;
}
export interface RawMembers {
  readonly header: RawHeader;
  readonly members: readonly RawMember[];
}
export interface RawRange {
  readonly kvs: readonly { readonly value: Uint8Array; readonly modRevision: string }[];
}
export interface RawStatus {
  readonly header: RawHeader;
  readonly version: string;
  readonly dbSize: string;
  readonly leader: string;
  readonly raftIndex: string;
  readonly raftTerm: string;
  readonly raftAppliedIndex: string;
  readonly errors: readonly string[];
  readonly isLearner: boolean;
}

export function memberFrom(raw: RawMember): Member {
  const { name, peerURLs: peerUrls, clientURLs: clientUrls, isLearner } = raw;
  return { id: memberId(raw.ID), name, peerUrls, clientUrls, isLearner };
}

export function statusFrom(raw: RawStatus): MemberStatus {
  return {
    clusterId: clusterId(raw.header.clusterId),
    id: memberId(raw.header.memberId),
    leader: raw.leader === '0' ? undefined : memberId(raw.leader),
    version: raw.version,
    raftIndex: Number(raw.raftIndex),
    raftAppliedIndex: Number(raw.raftAppliedIndex),
    raftTerm: Number(raw.raftTerm),
    revision: Number(raw.header.revision),
    dbSizeBytes: Number(raw.dbSize),
    isLearner: raw.isLearner,
    alarms: raw.errors.flatMap(alarmFrom),
  };
}

/** A status lists alarms as the text form of a protobuf message, whose spacing varies from build to build. */
function alarmFrom(text: string): readonly Alarm[] {
  const [, member] = /memberID:\s*(\d+)/.exec(text) ?? [];
  const [, kind] = /alarm:\s*(NOSPACE|CORRUPT)/.exec(text) ?? [];
  if (member === undefined || kind === undefined) return [];
  return [{ member: memberId(member), kind: kind as AlarmKind }];
}
