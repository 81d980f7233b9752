import { describe, expect, test } from 'vitest';
import {
  clientUrlOf,
  cluster,
  fitReadiness,
  idOf,
  learner,
  master,
  masterNames,
  peerUrlOf,
  said,
  silent,
  unstarted,
  voter,
} from '../../../test/arbitrary/observed-cluster.ts';
import type { ObservedCluster, Readiness } from '../observed-cluster.ts';

const boot = voter('bootstrap');
const m0 = voter('master-0');
const m1 = voter('master-1');
const m2 = voter('master-2');
const l0 = learner('master-0');
const l1 = learner('master-1');
const ready = (change: Partial<Readiness>) => ({ readiness: { ...fitReadiness, ...change } });
const withMaster0 = (change: Parameters<typeof master>[1]) => ({
  masters: [
    master('master-0', change),
    master('master-1', { readiness: undefined }),
    master('master-2', { readiness: undefined }),
  ],
});

const viaBoot = `via ${clientUrlOf('bootstrap')}`;

describe('adding a master as a learner', () => {
  test.each<[string, ObservedCluster, string | RegExp]>([
    ['the first one that is ready', cluster([boot]), `add master-0 ${viaBoot}`],
    ['not one that already has a member', cluster([boot, l0]), `add master-1 ${viaBoot}`],
    [
      'not while the one before it is starting',
      cluster([boot, unstarted('master-0', 9999)]),
      /master-0 to start, before master-1/,
    ],
    ['but not for ever', cluster([boot, unstarted('master-0', 10_000)]), `add master-1 ${viaBoot}`],
    [
      'not one that has said nothing',
      cluster([boot], withMaster0({ readiness: undefined })),
      /master-0 to say that it is ready/,
    ],
    [
      'not one that has fallen silent',
      cluster([boot], withMaster0(ready({ agoMs: 31_000 }))),
      /master-0 .* it last did 31 s ago/,
    ],
    [
      'not one with a full disk',
      cluster([boot], withMaster0({ freeDiskBytes: 2 ** 29 })),
      /master-0 to have 1 GiB free .* 512 MiB/,
    ],
    [
      'not one with a very slow disk',
      cluster([boot], withMaster0(ready({ fsyncP99Ms: 501 }))),
      /faster disk on master-0: writing takes 501 ms/,
    ],
    ['one with a slow disk', cluster([boot], withMaster0(ready({ fsyncP99Ms: 300 }))), `add master-0 ${viaBoot}`],
    [
      'not one whose clock is ahead',
      cluster([boot], withMaster0(ready({ clockOffsetMs: 600_000 }))),
      /clock of master-0 .* 600\.0 s ahead/,
    ],
    [
      'not one whose clock is behind',
      cluster([boot], withMaster0(ready({ clockOffsetMs: -1000 }))),
      /clock of master-0 .* 1\.0 s behind/,
    ],
    [
      'not one with another minor version',
      cluster([boot], withMaster0(ready({ etcdVersion: '3.8.0' }))),
      /master-0 to bring etcd 3\.7, .* 3\.8\.0/,
    ],
    [
      'one with another patch',
      cluster([boot], withMaster0(ready({ etcdVersion: '3.7.9' }))),
      `add master-0 ${viaBoot}`,
    ],
    ['not one that is leaving', cluster([boot], withMaster0({ isLeaving: true })), /^growing: master-1 to say/],
    ['not one that is gone', cluster([boot], withMaster0({ isGone: true })), /^growing: master-1 to say/],
    [
      'not in the second of its removal',
      cluster([boot], { ...withMaster0({}), justRemoved: [peerUrlOf('master-0')] }),
      /a second to pass before master-0/,
    ],
    ['not while a voter is silent', cluster([boot, m0, voter('master-1', silent)]), /etcd on master-1 does not answer/],
    [
      'not while a voter has an alarm',
      cluster([boot, voter('master-0', { state: { alarms: [{ member: idOf('master-0'), kind: 'NOSPACE' }] } })]),
      /master-0 has used up its space/,
    ],
    [
      'not beyond the limit of learners',
      cluster([boot, l0], { maxLearners: 1 }),
      /a learner's place for master-1: master-0 must be promoted/,
    ],
    ['after a promotable one, once two vote', cluster([boot, m0, l1]), `promote master-1 ${viaBoot}`],
  ])('%s', (_title, seen, expected) => {
    expect(said(seen)).toMatch(expected);
  });

  test('two machines with one address are both refused, whoever came first', () => {
    const clone = master('master-9', { peerUrl: peerUrlOf('master-0') });
    const seen = cluster([boot], { masters: [master('master-0'), clone] });
    expect(said(seen)).toMatch(/master-0 and master-9 claim the same address/);
  });
  test('a clone of a member is refused and the member left alone', () => {
    const clone = master('master-9', { peerUrl: peerUrlOf('master-0') });
    const masters = [...masterNames.map((name) => master(name)), clone];
    expect(said(cluster([boot, m0, m1, m2], { masters }))).toMatch(/master-9 claims .* the address of member master-0/);
  });
});
