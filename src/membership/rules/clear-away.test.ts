import { describe, expect, test } from 'vitest';
import {
  clientUrlOf,
  cluster,
  committed,
  idOf,
  learner,
  ledBy,
  master,
  masterNames,
  said,
  silent,
  unstarted,
  voter,
} from '../../../test/arbitrary/observed-cluster.ts';
import type { ObservedCluster } from '../observed-cluster.ts';

const boot = voter('bootstrap');
const m0 = voter('master-0');
const m1 = voter('master-1');
const m2 = voter('master-2');
const l1 = learner('master-1');
const l2 = learner('master-2');
const viaBoot = `via ${clientUrlOf('bootstrap')}`;
const viaMaster = `via ${clientUrlOf('master-0')}`;

describe('clearing members away', () => {
  const masters = ledBy('master-0', ...masterNames);
  const twoWell = masters.slice(0, 2);
  const alarms = [{ member: idOf('master-1'), kind: 'NOSPACE' as const }];
  const full = voter('master-1', { state: { leader: idOf('master-0'), alarms } });
  const dead = (change: object = {}) => voter('master-2', { ...silent, unchangedMs: 300_000, ...change });
  const lost = {
    masters: [
      master('master-0'),
      master('master-1'),
      master('master-2', { readiness: undefined, lostDataOf: idOf('master-2') }),
    ],
  };
  const gone = { masters: [master('master-0'), master('master-1'), master('master-2', { isGone: true })] };
  test.each<[string, ObservedCluster, string | RegExp]>([
    [
      'a learner that did not start within a minute',
      cluster([boot, unstarted('master-0', 60_000)]),
      `remove master-0 never-started ${viaBoot}`,
    ],
    [
      'not sooner',
      cluster([boot, unstarted('master-0', 59_999), l1, l2]),
      /master-0 was added and has not started|promote/,
    ],
    [
      'a dead learner after five minutes, before the handoff too',
      cluster([boot, learner('master-0', { ...silent, unchangedMs: 300_000 })]),
      `remove master-0 dead ${viaBoot}`,
    ],
    ['a dead voter after five minutes', cluster([...twoWell, dead()], committed), `remove master-2 dead ${viaMaster}`],
    [
      'not sooner',
      cluster([...twoWell, dead({ unchangedMs: 299_999 })], committed),
      /growing: etcd on master-2 does not answer/,
    ],
    [
      'at once when its machine is gone',
      cluster([...twoWell, dead({ unchangedMs: 0 })], { ...committed, ...gone }),
      `remove master-2 dead ${viaMaster}`,
    ],
    ['not a voter before the handoff', cluster([boot, m0, m1, dead()]), /nobody is replaced before the handoff/],
    [
      'but one that lost its data',
      cluster([boot, m0, m1, dead({ unchangedMs: 0 })], lost),
      `remove master-2 data-lost ${viaBoot}`,
    ],
    [
      'not on the word of a machine whose member answers',
      cluster([boot, m0, m1, m2], lost),
      'grown: the handoff to be recorded as complete',
    ],
    [
      'not by a report about an earlier member',
      cluster([...twoWell, dead({ unchangedMs: 0, id: 'f00' })], { ...committed, ...lost }),
      /growing/,
    ],
    [
      'not while another one is joining',
      cluster([...twoWell, dead(), learner('master-3', silent)], {
        ...committed,
        masters: [...lost.masters, master('master-3')],
      }),
      /master-3 to vote, before master-2 is replaced/,
    ],
    [
      'not before the endpoints match',
      cluster([...twoWell, dead()], { handoff: { isCommitted: true, publishedMembers: [] } }),
      /endpoints to match the voters, before master-2/,
    ],
    [
      'one of five while another is silent: three of four are left',
      cluster([...ledBy('master-0', 'master-0', 'master-1', 'a'), voter('b', silent), dead()], {
        ...lost,
        handoff: { isCommitted: true, publishedMembers: ['master-0', 'master-1', 'a', 'b', 'master-2'].map(idOf) },
      }),
      /remove master-2 data-lost/,
    ],
    [
      'not when too few of the rest are well',
      cluster([masters[0]!, full, dead()], committed),
      /more members that are well, before master-2 can be removed/,
    ],
    [
      'never the bootstrap member, however long it is dead',
      cluster([voter('bootstrap', { ...silent, unchangedMs: 9e6 }), ...masters]),
      /grown/,
    ],
    [
      'not an unstarted voter, which only starting helps',
      cluster([...masters, { ...unstarted('x', 60_000), isLearner: false }]),
      /etcd on member .* to start: it votes/,
    ],
  ])('%s', (_title, seen, expected) => {
    expect(said(seen)).toMatch(expected);
  });
  test('nobody is replaced once the majority is lost', () => {
    const seen = cluster([...ledBy('master-0', 'master-0', 'master-1'), dead(), voter('a', silent)], committed);
    expect(said(seen)).toMatch(/unreadable: a leader that 3 of 4/);
  });
});
