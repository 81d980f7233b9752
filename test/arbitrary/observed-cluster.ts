// Observations of etcd for tests: a healthy one by a few words, changed where a test wants trouble; and random ones.
import * as fc from 'fast-check';
import { missingLine } from '../../src/contract/missing.ts';
import type { MemberId, MemberStatus } from '../../src/etcd/member.ts';
import { nextMove } from '../../src/membership/next-move.ts';
import type {
  Handoff,
  ObservedCluster,
  ObservedMaster,
  ObservedMember,
  Readiness,
} from '../../src/membership/observed-cluster.ts';

export const idOf = (name: string): MemberId => Buffer.from(name).toString('hex').slice(-16) as MemberId;
export const peerUrlOf = (name: string): string => `https://${name}.test:2380`;
export const clientUrlOf = (name: string): string => `https://${name}.test:2379`;

export const fitReadiness: Readiness = {
  agoMs: 100,
  etcdVersion: '3.7.3',
  fsyncP99Ms: 5,
  clockOffsetMs: 3,
};

export function status(name: string, change: Partial<MemberStatus> = {}): MemberStatus {
  return {
    clusterId: 'c1' as MemberStatus['clusterId'],
    id: idOf(name),
    leader: idOf('bootstrap'),
    version: '3.7.3',
    raftIndex: 2000,
    raftAppliedIndex: 2000,
    raftTerm: 2,
    revision: 1500,
    dbSizeBytes: 2 ** 20,
    isLearner: false,
    alarms: [],
    ...change,
  };
}

type MemberChange = Partial<ObservedMember> & { readonly state?: Partial<MemberStatus> };

export function voter(name: string, { state, ...change }: MemberChange = {}): ObservedMember {
  return {
    id: idOf(name),
    name,
    peerUrls: [peerUrlOf(name)],
    clientUrls: [clientUrlOf(name)],
    isLearner: false,
    probe: { status: 'answers', state: status(name, state), tookMs: 3 },
    unchangedMs: 10_000,
    ...change,
  };
}

export function learner(name: string, change: MemberChange = {}): ObservedMember {
  return voter(name, { isLearner: true, ...change, state: { isLearner: true, ...change.state } });
}

export function unstarted(name: string, unchangedMs = 0): ObservedMember {
  return learner(name, { name: '', clientUrls: [], probe: { status: 'unstarted' }, unchangedMs });
}

export const silent = { probe: { status: 'silent', why: 'does not answer: it is asleep' } } as const;

export function master(name: string, change: Partial<ObservedMaster> = {}): ObservedMaster {
  const urls = { peerUrl: peerUrlOf(name), clientUrl: clientUrlOf(name) };
  const fit = { readiness: fitReadiness, freeDiskBytes: 2 ** 33 };
  return { name, ...urls, ...fit, isLeaving: false, isGone: false, ...change };
}

export const masterNames = ['master-0', 'master-1', 'master-2'];

export function cluster(
  members: readonly ObservedMember[],
  change: Partial<Omit<ObservedCluster, 'handoff'>> & { readonly handoff?: Partial<Handoff> } = {},
): ObservedCluster {
  return {
    membership: { status: 'read', members },
    bootstrap: { name: 'bootstrap', peerUrl: peerUrlOf('bootstrap'), clientUrl: clientUrlOf('bootstrap') },
    masters: masterNames.map((name) => master(name)),
    justRemoved: [],
    slowForMs: undefined,
    maxLearners: 3,
    ...change,
    handoff: {
      isCommitted: false,
      readyApiServers: masterNames,
      bootstrapApi: 'closed',
      publishedMembers: masterNames.map(idOf),
      ...change.handoff,
    },
  };
}

export const committed = { handoff: { isCommitted: true } };

/** Voters that all follow this leader. */
export function ledBy(leader: string, ...names: readonly string[]): readonly ObservedMember[] {
  return names.map((name) => voter(name, { state: { leader: idOf(leader) } }));
}

/** The decision in one line: `add master-0 via https://…` or `growing: what is missing`. */
export function said(seen: ObservedCluster): string {
  const next = nextMove(seen);
  if (next.kind === 'waiting') return `${next.stage}: ${missingLine(next.missing)}`;
  return `${next.kind} ${next.node}${next.kind === 'remove' ? ` ${next.because}` : ''} via ${next.via}`;
}

/** Any observation at all, sensible or not: rules must be safe on every one. */
export const anyObservedCluster: fc.Arbitrary<ObservedCluster> = fc
  .constantFrom(1, 3, 5)
  .chain((count) => {
    const names = ['bootstrap', ...Array.from({ length: count }, (_, index) => `master-${index}`)];
    return fc.record({
      members: fc.tuple(...names.map((name) => fc.option(anyMember(name, names), { nil: undefined, freq: 4 }))),
      masters: fc.tuple(...names.slice(1).map(anyMaster)),
      justRemoved: fc.subarray(names.map(peerUrlOf), { maxLength: 1 }),
      handoff: fc.record({
        isCommitted: fc.boolean(),
        readyApiServers: fc.subarray(names),
        bootstrapApi: fc.constantFrom('answers', 'closed', 'silent'),
        publishedMembers: fc.oneof(fc.subarray(names.map(idOf)), fc.constant(names.slice(1).map(idOf))),
      }),
    });
  })
  .map(({ members, masters, justRemoved, handoff }) =>
    cluster(
      members.filter((member) => member !== undefined),
      { masters, justRemoved, handoff, maxLearners: masters.length },
    ),
  );

function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { arbitrary: fc.constant(usual), weight: 8 },
    { arbitrary: fc.constantFrom(usual, ...others), weight: 2 },
  );
}

function anyMember(name: string, names: readonly string[]): fc.Arbitrary<ObservedMember> {
  return fc
    .record({
      probe: mostly('answers', 'silent', 'unstarted'),
      isLearner: fc.boolean(),
      unchangedMs: fc.constantFrom(0, 1000, 6000, 61_000, 301_000),
      leader: mostly(idOf('bootstrap'), undefined, ...names.map(idOf)),
      raftAppliedIndex: mostly(2000, 1899, 500),
      revision: mostly(1500, 1300),
      alarms: mostly([], [{ member: idOf(name), kind: 'NOSPACE' as const }]),
    })
    .map(({ probe, isLearner, unchangedMs, ...state }) => {
      const change = { isLearner, unchangedMs, state: { ...state, isLearner } };
      if (probe === 'unstarted') return { ...unstarted(name, unchangedMs), isLearner };
      return voter(name, probe === 'silent' ? { ...change, ...silent } : change);
    });
}

function anyMaster(name: string): fc.Arbitrary<ObservedMaster> {
  return fc
    .record({
      readiness: mostly<Readiness | undefined>(fitReadiness, undefined, { ...fitReadiness, clockOffsetMs: -5000 }),
      lostDataOf: mostly(undefined, idOf(name)),
      freeDiskBytes: mostly<number | undefined>(2 ** 33, undefined, 4096),
      isLeaving: mostly(false, true),
      isGone: mostly(false, true),
    })
    .map((change) => master(name, change));
}
