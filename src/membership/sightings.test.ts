import { expect, test } from 'vitest';
import { idOf, learner, peerUrlOf, silent, status, voter } from '../../test/arbitrary/observed-cluster.ts';
import { sightings } from './sightings.ts';

test('a member is dated from when it became what it is', () => {
  const memory = sightings();
  const at = (nowMs: number, members = [voter('a')]) =>
    memory.date(members, nowMs).map(({ unchangedMs }) => unchangedMs);
  expect([at(1000), at(4000), at(5000, [voter('a', silent)]), at(6000, [voter('a', silent)]), at(7000)]).toEqual([
    [0],
    [3000],
    [0],
    [1000],
    [0],
  ]);
});

test('a member that comes back under a new id begins anew', () => {
  const memory = sightings();
  memory.date([learner('a')], 0);
  memory.date([], 1000);
  expect(memory.date([learner('a', { id: idOf('other') })], 9000)[0]?.unchangedMs).toBe(0);
});

test('an address that left is remembered until its second is over', () => {
  const memory = sightings();
  memory.date([voter('a'), voter('b')], 0);
  memory.date([voter('a')], 500);
  expect(memory.justRemoved(500)).toEqual([peerUrlOf('b')]);
  expect(memory.justRemoved(1599)).toEqual([peerUrlOf('b')]);
  expect(memory.justRemoved(1600)).toEqual([]);
});

test('slowness is dated from the first look in which a voter did not answer at once, and ends with one in which all did', () => {
  const memory = sightings();
  const answering = (tookMs: number) => voter('a', { probe: { status: 'answers', state: status('a'), tookMs } });
  const [slow, quick] = [answering(50.1), answering(50)];
  const dead = learner('b', silent);
  const looks = [[quick, dead], [slow], [voter('a', silent)], undefined, [quick], [slow]] as const;
  expect(looks.map((members, second) => memory.slowForMs(members, second * 1000))).toEqual([
    undefined,
    0,
    1000,
    2000,
    undefined,
    0,
  ]);
});
