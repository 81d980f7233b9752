import { describe, expect, test } from 'vitest';
import { waitingFor } from '../contract/missing.ts';
import { needsMastersView, nextNodes, type PoolNodes, unavailableLimit } from './next-nodes.ts';
import type { RolloutNode } from './rollout-node.ts';

const node = (name: string, more: Partial<RolloutNode> = {}): RolloutNode => ({
  name,
  uid: name,
  labels: {},
  zone: '',
  createdAt: '2026-01-01T00:00:00Z',
  isHealthy: true,
  isCordoned: false,
  isCordonedByUs: false,
  isLeaving: false,
  isClaimed: false,
  version: '1',
  current: 'old',
  desired: 'old',
  state: 'Done',
  reason: '',
  desiredDrain: '',
  lastAppliedDrain: '',
  driftPolicy: '',
  drainProgress: '',
  ...more,
});

const pool = (nodes: readonly RolloutNode[], more: Partial<PoolNodes> = {}): PoolNodes => ({
  pool: 'worker',
  target: 'new',
  isPaused: false,
  maxUnavailable: undefined,
  nodes,
  mastersMissing: [],
  ...more,
});

const updated = { current: 'new', desired: 'new' } as const;
const working = { desired: 'new', state: 'Working' } as const;
const failed = { desired: 'new', state: 'Degraded', reason: 'x.service does not start' } as const;

describe('the next nodes of a pool', () => {
  test('are one at a time, the oldest first', () => {
    const nodes = [node('a', { createdAt: '2026-01-02T00:00:00Z' }), node('b')];
    expect(nextNodes(pool(nodes)).move).toEqual(['b']);
  });

  test('come zone by zone, and those without a zone after the others', () => {
    const nodes = [node('a'), node('b', { zone: 'z2' }), node('c', { zone: 'z1', createdAt: '2026-02-01T00:00:00Z' })];
    expect(nextNodes(pool(nodes, { maxUnavailable: 3 })).move).toEqual(['c', 'b', 'a']);
  });

  test('wait while as many as allowed are out, and it is said for whom', () => {
    const nodes = [node('a', working), node('b'), node('c')];
    expect(nextNodes(pool(nodes))).toEqual({ move: [], waitsFor: ['a to be available'] });
    expect(nextNodes(pool(nodes, { maxUnavailable: '70%' })).move).toEqual(['b']);
  });

  test('are never those that an in-place attempt has, which count as out', () => {
    const claimed = node('a', { isClaimed: true });
    expect(nextNodes(pool([claimed, node('b')]))).toEqual({ move: [], waitsFor: ['a to be available'] });
    expect(nextNodes(pool([claimed, node('b')], { maxUnavailable: 2 })).move).toEqual(['b']);
    const turned = node('a', { isClaimed: true, desired: 'other', state: 'Degraded' });
    expect(nextNodes(pool([turned], { maxUnavailable: 2 })).move).toEqual([]);
    expect(nextNodes(pool([claimed, node('b')], { pool: 'master' }))).toEqual({
      move: [],
      waitsFor: ['the in-place attempt on a'],
    });
  });

  test('wait for a node that is not Ready or that somebody cordoned, and leave that node alone', () => {
    expect(nextNodes(pool([node('a', { isHealthy: false }), node('b')])).move).toEqual([]);
    expect(nextNodes(pool([node('a', { isCordoned: true }), node('b')])).move).toEqual([]);
  });

  test('are none while a node failed on the same config, whatever may be unavailable', () => {
    const seen = nextNodes(pool([node('a', failed), node('b'), node('c')], { maxUnavailable: 3 }));
    expect(seen).toEqual({ move: [], waitsFor: ['a, which is Degraded on it'] });
  });

  test('begin with those that failed on another config, although they are cordoned', () => {
    const nodes = [node('a', { ...failed, isCordoned: true }), node('b', updated)];
    expect(nextNodes(pool(nodes, { target: 'old' })).move).toEqual(['a']);
  });

  test('are at once those that still wait for their drain towards another config', () => {
    const waits = { ...working, isCordoned: true, desiredDrain: 'drain-new' };
    expect(nextNodes(pool([node('a', waits), node('b')], { target: 'newer' })).move).toEqual(['a']);
    const drained = { ...waits, lastAppliedDrain: 'drain-new' };
    expect(nextNodes(pool([node('a', drained), node('b')], { target: 'newer' })).move).toEqual([]);
  });

  test('have the one whose files were changed last: its daemon refuses until they are restored', () => {
    const nodes = [node('a', { state: 'Degraded', reason: 'content mismatch' }), node('b')];
    expect(nextNodes(pool(nodes)).move).toEqual(['b']);
    expect(nextNodes(pool([nodes[0]!, node('b', updated)])).move).toEqual(['a']);
  });

  test('are none of a pool that is paused, without a target, or done', () => {
    expect(nextNodes(pool([node('a')], { isPaused: true })).move).toEqual([]);
    expect(nextNodes(pool([node('a')], { target: '' })).move).toEqual([]);
    expect(nextNodes(pool([node('a', updated)]))).toEqual({ move: [], waitsFor: [] });
  });

  test('are never those that a daemon has not reported on, or that leave', () => {
    const silent = { current: '', desired: '', state: undefined };
    expect(nextNodes(pool([node('a', silent), node('b', { isLeaving: true })], { maxUnavailable: 5 })).move).toEqual(
      [],
    );
  });
});

describe('the next master', () => {
  const masters = (nodes: readonly RolloutNode[], more: Partial<PoolNodes> = {}): PoolNodes =>
    pool(nodes, { pool: 'master', maxUnavailable: 3, ...more });

  test('is one alone, whatever the pool allows', () => {
    expect(nextNodes(masters([node('a'), node('b'), node('c')])).move).toEqual(['a']);
    expect(nextNodes(masters([node('a', working), node('b'), node('c')]))).toEqual({
      move: [],
      waitsFor: ['a to finish its change'],
    });
  });

  test('waits until every other is well, and it is said who is not', () => {
    const missing = [waitingFor('c', 'to vote in etcd')];
    expect(nextNodes(masters([node('a'), node('b')], { mastersMissing: missing }))).toEqual({
      move: [],
      waitsFor: ['c to vote in etcd'],
    });
    expect(nextNodes(masters([node('a'), node('b', { isHealthy: false })])).waitsFor).toEqual(['b to be available']);
  });

  test('turns back from a config that failed although others are missing', () => {
    const missing = [waitingFor('a', 'to be Ready')];
    const seen = masters([node('a', { ...failed, isCordoned: true }), node('b')], {
      target: 'old',
      mastersMissing: missing,
    });
    expect(nextNodes(seen).move).toEqual(['a']);
  });

  test('is looked for, and the others asked, only when one could move', () => {
    expect(needsMastersView(masters([node('a'), node('b')]))).toBe(true);
    expect(needsMastersView(masters([node('a', updated), node('b', updated)]))).toBe(false);
    expect(needsMastersView(masters([node('a', working), node('b')]))).toBe(false);
  });
});

test('what may be unavailable is at least one, and percents are rounded down', () => {
  expect([undefined, null, 0, 2, '3', '50%', '10%'].map((limit) => unavailableLimit(limit, 5))).toEqual([
    1, 1, 1, 2, 3, 2, 1,
  ]);
});
