import { describe, expect, test } from 'vitest';
import {
  clientUrlOf,
  cluster,
  committed,
  idOf,
  ledBy,
  master,
  masterNames,
  said,
  silent,
  voter,
} from '../../../test/arbitrary/observed-cluster.ts';
import type { ObservedCluster } from '../observed-cluster.ts';

const boot = voter('bootstrap');
const m0 = voter('master-0');
const m1 = voter('master-1');
const m2 = voter('master-2');
const viaBoot = `via ${clientUrlOf('bootstrap')}`;
const viaMaster = `via ${clientUrlOf('master-0')}`;

describe('removing the bootstrap member', () => {
  const masters = ledBy('master-0', ...masterNames);
  const follower = voter('bootstrap', { state: { leader: idOf('master-0') } });
  const gap = (change: object) => [
    follower,
    ...masters.slice(0, 2),
    voter('master-2', { state: { leader: idOf('master-0'), ...change } }),
  ];
  test.each<[string, ObservedCluster, string | RegExp]>([
    ['through a master', cluster([follower, ...masters], committed), `remove bootstrap bootstrap-done ${viaMaster}`],
    [
      'not before the handoff is on record',
      cluster([follower, ...masters]),
      'grown: the handoff to be recorded as complete',
    ],
    [
      'not while its API may still need it',
      cluster([follower, ...masters], { handoff: { isCommitted: true, bootstrapApi: 'answers' } }),
      'shrinking: the API of bootstrap to end: it needs its member until then',
    ],
    [
      'not while its API is merely slow to answer',
      cluster([follower, ...masters], { handoff: { isCommitted: true, bootstrapApi: 'silent' } }),
      'shrinking: the API of bootstrap to end: it needs its member until then',
    ],
    [
      'when the whole machine says nothing any more',
      cluster([voter('bootstrap', silent), ...masters], { handoff: { isCommitted: true, bootstrapApi: 'silent' } }),
      `remove bootstrap bootstrap-done ${viaMaster}`,
    ],
    [
      'after the leadership has gone to a master',
      cluster([boot, m0, voter('master-1', { unchangedMs: 20_000 }), m2], committed),
      `move-leader master-1 ${viaBoot}`,
    ],
    [
      'not while its API may still be in need of its leadership',
      cluster([boot, m0, m1, m2], { handoff: { isCommitted: true, bootstrapApi: 'answers' } }),
      'shrinking: the API of bootstrap to end: it needs its member until then',
    ],
    [
      'not by handing over in a moment when etcd is slow',
      cluster([boot, m0, m1, m2], { ...committed, slowForMs: 9_999 }),
      'shrinking: a moment when every member of etcd answers at once, to hand leadership over',
    ],
    [
      'after handing over in whatever moment when there was no quiet one for long',
      cluster([boot, m0, m1, m2], { ...committed, slowForMs: 10_000 }),
      `move-leader master-0 ${viaBoot}`,
    ],
    [
      'not while it leads and does not answer',
      cluster([voter('bootstrap', silent), m0, m1, m2], committed),
      /shrinking: bootstrap to answer: it leads etcd/,
    ],
    [
      'though it is dead',
      cluster([voter('bootstrap', silent), ...masters], committed),
      `remove bootstrap bootstrap-done ${viaMaster}`,
    ],
    [
      'not while a master is dead, which etcd would allow',
      cluster([follower, ...masters.slice(0, 2), voter('master-2', silent)], committed),
      /growing: etcd on master-2 does not answer/,
    ],
    [
      'not while a master has no disk left',
      cluster([follower, ...masters], {
        ...committed,
        masters: masterNames.map((name) => master(name, { freeDiskBytes: name === 'master-1' ? 4096 : 2 ** 33 })),
      }),
      /growing: etcd on master-1 has 0 MiB of disk left/,
    ],
    [
      'not while a master is missing',
      cluster([follower, ...masters.slice(0, 2)], {
        ...committed,
        masters: [master('master-0'), master('master-1'), master('master-2', { readiness: undefined })],
      }),
      /master-2 to say that it is ready/,
    ],
    [
      'not while a master lags',
      cluster(gap({ raftAppliedIndex: 1000 }), committed),
      /master-2 to catch up: 1000 entries behind/,
    ],
    [
      'not while a master shows old data',
      cluster(gap({ revision: 1399 }), committed),
      /master-2 to catch up: 101 revisions behind/,
    ],
    [
      'not before two masters serve the API',
      cluster([follower, ...masters], { handoff: { isCommitted: true, readyApiServers: ['master-1'] } }),
      'shrinking: the API on 2 masters; 1 serve it',
    ],
    [
      'not before the endpoints name the masters',
      cluster([follower, ...masters], { handoff: { isCommitted: true, publishedMembers: [idOf('master-0')] } }),
      /endpoints to name exactly the masters/,
    ],
    [
      'not before endpoints were published at all',
      cluster([follower, ...masters], { handoff: { isCommitted: true, publishedMembers: undefined } }),
      /endpoints to name exactly the masters/,
    ],
    [
      'not with a stranger among the voters',
      cluster([follower, ...masters, ...ledBy('master-0', 'stranger')], committed),
      /stranger to be removed from etcd/,
    ],
    [
      'also when there is one master',
      cluster(ledBy('master-0', 'bootstrap', 'master-0'), {
        masters: [master('master-0')],
        handoff: { isCommitted: true, publishedMembers: [idOf('master-0')], readyApiServers: ['master-0'] },
      }),
      `remove bootstrap bootstrap-done ${viaMaster}`,
    ],
    ['and when it is gone there is nothing to do', cluster(masters, committed), 'steady: '],
    [
      'and nothing where the inventory lists no bootstrap machine',
      cluster(masters, { ...committed, bootstrap: undefined }),
      'steady: ',
    ],
  ])('%s', (_title, seen, expected) => {
    expect(said(seen)).toMatch(expected);
  });
});
