import { describe, expect, test } from 'vitest';
import { diagnose } from './diagnose.ts';
import type { DiagnosedMachine, DiagnosisFacts } from './facts.ts';
import type { InsideFacts } from './inside/inside-facts.ts';

type EtcdFacts = NonNullable<InsideFacts['etcd']>;

const at = '2026-01-01T00:00:00Z';
const names = ['master-0', 'master-1', 'master-2'];
const addressOf = (name: string): string => `10.99.0.1${name.at(-1)}`;

const members = names.map((name, index) => ({
  id: `a${index}`,
  name,
  isLearner: false,
  peerUrls: [`https://${addressOf(name)}:2380`],
}));

function well(name: string): EtcdFacts {
  const others = names.filter((other) => other !== name).map(addressOf);
  return {
    isListening: true,
    peers: others.flatMap((address) => [2379, 2380].map((port) => ({ address, port }))),
    member: { id: `a${name.at(-1)}`, isLearner: false, leader: 'a0', alarms: [], members },
    fsyncP99Ms: 8,
  };
}

function withoutMember({ isListening, peers, fsyncP99Ms }: EtcdFacts): EtcdFacts {
  return { isListening, peers, ...(fsyncP99Ms === undefined ? {} : { fsyncP99Ms }) };
}

function machine(name: string, etcd: EtcdFacts | undefined, change: Partial<InsideFacts> = {}): DiagnosedMachine {
  const inside: InsideFacts = {
    now: at,
    nameServers: [],
    names: [],
    ports: [],
    serves: [22_623, 6443],
    disks: [],
    units: [],
    ...(etcd === undefined ? {} : { etcd }),
    ...change,
  };
  const firstBoot = { phase: 'done', startedAt: at, updatedAt: at } as const;
  return {
    name,
    role: 'master',
    address: addressOf(name),
    isRunning: true,
    firstBoot,
    agent: undefined,
    inside,
    clockAheadMs: 0,
  };
}

function cluster(change: (name: string, etcd: EtcdFacts) => EtcdFacts | undefined): DiagnosisFacts {
  const machines = names.map((name) => machine(name, change(name, well(name))));
  return {
    apiInternal: { name: 'api-int.demo.test', address: '10.99.0.1' },
    isBalancerRunning: true,
    machines,
    missing: [],
    api: undefined,
  };
}

const found = (facts: DiagnosisFacts): readonly string[] => diagnose(facts).map(({ sentence }) => sentence);

describe('etcd', () => {
  test('in good health gives no finding', () => {
    expect(found(cluster((_, etcd) => etcd))).toEqual([]);
  });

  test('whose port is closed between two masters is told by both names, and who else can connect', () => {
    const blocked = cluster((name, etcd) => ({
      ...etcd,
      peers: etcd.peers.map((peer) =>
        name === 'master-0' && peer.address === '10.99.0.11' && peer.port === 2380
          ? { ...peer, failure: 'timeout' as const, reason: 'no connection within 3000 ms' }
          : peer,
      ),
    }));
    expect(diagnose(blocked)).toMatchObject([
      {
        check: 'etcd-port-closed',
        machine: 'master-0',
        sentence: 'port 2380 (etcd, between its members) is closed between master-0 and master-1',
        seen: 'connecting from master-0 to 10.99.0.11:2380: no connection within 3000 ms; master-2 can',
        next: { verb: 'machine exec', rest: 'master-1 -- nft list ruleset' },
      },
    ]);
  });

  test('that does not run on a machine yet has no closed port there', () => {
    const refused = { failure: 'refused', reason: 'connection refused' } as const;
    const growing = cluster((name, etcd) =>
      name === 'master-2'
        ? undefined
        : {
            ...etcd,
            peers: etcd.peers.map((peer) => (peer.address === '10.99.0.12' ? { ...peer, ...refused } : peer)),
          },
    );
    expect(found(growing)).toEqual([]);
  });

  test('without one of its voters names the machine, and without two also that nobody leads', () => {
    const gone = (lost: readonly string[]) =>
      cluster((name, etcd) => {
        if (lost.includes(name)) return { ...withoutMember(etcd), isListening: false };
        if (lost.length < 2 || etcd.member === undefined) return etcd;
        const { leader: _, ...member } = etcd.member;
        return { ...etcd, member };
      });
    expect(found(gone(['master-2']))).toEqual(['the member of etcd on master-2 does not run']);
    expect(found(gone(['master-1', 'master-2']))).toEqual([
      'etcd has no leader: 1 of 3 voters answer, 2 must agree',
      'the member of etcd on master-1 does not run',
      'the member of etcd on master-2 does not run',
    ]);
  });

  test('with an alarm, or on a disk that takes longer than etcd bears, says so', () => {
    const troubled = cluster((name, etcd) => {
      if (name !== 'master-0' || etcd.member === undefined) return etcd;
      return { ...etcd, fsyncP99Ms: 512, member: { ...etcd.member, alarms: ['NOSPACE'] } };
    });
    expect(found(troubled)).toEqual([
      'etcd has raised the alarm NOSPACE',
      'the disk of master-0 is too slow for etcd: one write in a hundred takes 512 ms or more',
    ]);
  });
});
