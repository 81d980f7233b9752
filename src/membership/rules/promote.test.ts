import { describe, expect, test } from 'vitest';
import {
  clientUrlOf,
  cluster,
  idOf,
  learner,
  master,
  said,
  silent,
  unstarted,
  voter,
} from '../../../test/arbitrary/observed-cluster.ts';
import type { ObservedCluster } from '../observed-cluster.ts';

const boot = voter('bootstrap');
const m0 = voter('master-0');
const l0 = learner('master-0');
const l1 = learner('master-1');
const l2 = learner('master-2');
const viaBoot = `via ${clientUrlOf('bootstrap')}`;

describe('promoting a learner', () => {
  const late = { unchangedMs: 2000 };
  const two = { masters: [master('master-0'), master('master-1')] };
  const thirdIsSilent = {
    masters: [master('master-0'), master('master-1'), master('master-2', { readiness: undefined })],
  };
  const one = { masters: [master('master-0')] };
  const behind = (entries: number, raftIndex = 2000) => ({ state: { raftAppliedIndex: raftIndex - entries } });
  test.each<[string, ObservedCluster, string | RegExp]>([
    ['all of them once all are ready', cluster([boot, l0, l1, l2]), `promote master-0 ${viaBoot}`],
    [
      'not the first one alone',
      cluster([boot, l0], { masters: [master('master-0'), master('master-1', { readiness: undefined })] }),
      /a second master to be ready to vote together with master-0/,
    ],
    ['two while the third is starting', cluster([boot, l0, l1, unstarted('master-2')]), `promote master-0 ${viaBoot}`],
    [
      'not two at once when the third may ask to be added any moment',
      cluster([boot, learner('master-0', { unchangedMs: 1999 }), learner('master-1', late)], thirdIsSilent),
      /master-2, for a moment, before master-0 and master-1 vote/,
    ],
    [
      'two when the third keeps them waiting',
      cluster([boot, learner('master-0', late), learner('master-1', late)], thirdIsSilent),
      `promote master-0 ${viaBoot}`,
    ],
    ['the only master there is', cluster([boot, l0], one), `promote master-0 ${viaBoot}`],
    [
      'at once when it makes three of two',
      cluster([boot, m0, l1, unstarted('master-2')]),
      `promote master-1 ${viaBoot}`,
    ],
    [
      'not one that is dead though it had caught up',
      cluster([boot, m0, learner('master-1', silent)], two),
      /etcd on master-1 does not answer/,
    ],
    [
      'not one that answers and has no disk left',
      cluster([boot, m0, l1], { masters: [master('master-0'), master('master-1', { freeDiskBytes: 2 ** 27 - 1 })] }),
      /etcd on master-1 has 127 MiB of disk left/,
    ],
    [
      'one that has just enough disk',
      cluster([boot, m0, l1], { masters: [master('master-0'), master('master-1', { freeDiskBytes: 2 ** 27 })] }),
      `promote master-1 ${viaBoot}`,
    ],
    [
      'not one that has not started',
      cluster([boot, m0, unstarted('master-1')]),
      /etcd on master-1 was added and has not started/,
    ],
    [
      'not while a voter is dead',
      cluster([boot, m0, voter('master-1', silent), l2]),
      /etcd on master-1 does not answer/,
    ],
    [
      'not one that lags',
      cluster([boot, m0, learner('master-1', behind(201))], two),
      /master-1 to catch up: 201 of 2000 entries behind/,
    ],
    ['one that lags by a tenth', cluster([boot, m0, learner('master-1', behind(200))]), `promote master-1 ${viaBoot}`],
    [
      'not one that follows another leader',
      cluster([boot, m0, learner('master-1', { state: { leader: idOf('master-0') } })], two),
      /master-1 follows another leader than bootstrap/,
    ],
    [
      'not one that knows no leader',
      cluster([boot, m0, learner('master-1', { state: { leader: undefined } })], two),
      /master-1 knows no leader/,
    ],
    [
      'not one whose data is damaged',
      cluster(
        [boot, m0, learner('master-1', { state: { alarms: [{ member: idOf('master-1'), kind: 'CORRUPT' }] } })],
        two,
      ),
      /master-1 found its data damaged/,
    ],
    [
      'not one of a machine that leaves',
      cluster([boot, m0, l1], { masters: [master('master-0'), master('master-1', { isLeaving: true })] }),
      /master-1 is leaving/,
    ],
    [
      'not one of a machine nobody knows',
      cluster([boot, m0, learner('stranger')], { masters: [master('master-0')] }),
      /stranger is a learner on no machine we know/,
    ],
  ])('%s', (_title, seen, expected) => {
    expect(said(seen)).toMatch(expected);
  });

  test('at 2 voters nothing is done while one of them is down', () => {
    const alone = voter('bootstrap', { state: { leader: undefined } });
    const seen = cluster([alone, voter('master-0', silent), l1]);
    expect(said(seen)).toBe(
      'unreadable: a leader that 2 of 2 etcd voters agree on: master-0 does not answer: it is asleep',
    );
  });
});
