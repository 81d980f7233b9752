import { describe, expect, test } from 'vitest';
import { type PoolStatus, poolStatusSchema } from '../contract/machine-config-pool.ts';
import { type PoolFacts, poolStatus } from './pool-conditions.ts';
import { rolloutNode } from './rollout-node.ts';

const prefix = 'machineconfiguration.openshift.io';
const start = new Date('2026-01-01T00:00:00Z');

function node(name: string, { current = 'new', desired = 'new', state = 'Done', reason = '', isReady = true } = {}) {
  return rolloutNode({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: {
        [`${prefix}/currentConfig`]: current,
        [`${prefix}/desiredConfig`]: desired,
        [`${prefix}/state`]: state,
        [`${prefix}/reason`]: reason,
      },
    },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  });
}

const facts = (more: Partial<PoolFacts>): PoolFacts => ({
  pool: 'worker',
  generation: 3,
  isPaused: false,
  target: 'new',
  sources: ['00-worker', '99-x'],
  nodes: [],
  renderProblem: undefined,
  waitsFor: [],
  nodeProblems: [],
  before: poolStatusSchema.parse({}),
  now: start,
  ...more,
});

function condition({ conditions }: PoolStatus, type: string): string {
  const { status, reason, message } = conditions.find((each) => each.type === type) ?? {};
  return [status, reason, message].filter(Boolean).join(' | ');
}

describe('a pool', () => {
  test('is updated when every node has the target and can take pods; the target is then what it has', () => {
    const status = poolStatus(facts({ nodes: [node('a'), node('b')] }));
    expect(condition(status, 'Updated')).toBe('True | All nodes are updated with new');
    expect(condition(status, 'Updating')).toBe('False');
    expect(status).toMatchObject({
      machineCount: 2,
      updatedMachineCount: 2,
      readyMachineCount: 2,
      observedGeneration: 3,
    });
    expect(status.configuration).toMatchObject({ name: 'new', source: [{ name: '00-worker' }, { name: '99-x' }] });
  });

  test('is not updated while one of them is not Ready', () => {
    const status = poolStatus(facts({ nodes: [node('a'), node('b', { isReady: false })] }));
    expect(condition(status, 'Updated')).toBe('False');
    expect(status).toMatchObject({ updatedMachineCount: 2, readyMachineCount: 1, unavailableMachineCount: 1 });
    expect(status.configuration).toBeUndefined();
  });

  test('says who is updating and what it waits for', () => {
    const nodes = [
      node('a'),
      node('b', { current: 'old', state: 'Working' }),
      node('c', { current: 'old', desired: 'old' }),
    ];
    const status = poolStatus(facts({ nodes, waitsFor: ['b to be available'] }));
    expect(condition(status, 'Updating')).toBe(
      'True | 1 of 3 nodes have new; b is updating; waits for b to be available',
    );
  });

  test('says that it is paused, and to what it will not update', () => {
    const nodes = [node('a', { current: 'old', desired: 'old' })];
    const status = poolStatus(facts({ nodes, isPaused: true }));
    expect(condition(status, 'Updating')).toBe('False | Paused | Pool is paused; will not update to new');
    expect(condition(status, 'Updated')).toBe('False');
  });

  test('is degraded by a node, whose reason it repeats', () => {
    const nodes = [node('a', { current: 'old', state: 'Degraded', reason: 'x.service does not start' }), node('b')];
    const status = poolStatus(facts({ nodes }));
    const said = 'Node a is reporting: "x.service does not start"';
    expect(condition(status, 'NodeDegraded')).toBe(`True | 1 node is reporting degraded status on sync | ${said}`);
    expect(condition(status, 'Degraded')).toBe(`True | ${said}`);
    expect(status.degradedMachineCount).toBe(1);
  });

  test('is degraded by a render that failed, and is still updated with what it has', () => {
    const status = poolStatus(facts({ nodes: [node('a')], renderProblem: 'storage.disks changed (from 50-disks)' }));
    const said = 'Failed to render configuration for pool worker: storage.disks changed (from 50-disks)';
    expect(condition(status, 'RenderDegraded')).toBe(`True | RenderFailed | ${said}`);
    expect(condition(status, 'Degraded')).toBe(`True | ${said}`);
    expect(condition(status, 'Updated')).toBe('True | All nodes are updated with new');
  });

  test('keeps the time of a condition until its status flips', () => {
    const first = poolStatus(facts({ nodes: [node('a')] }));
    const later = new Date('2026-01-02T00:00:00Z');
    const same = poolStatus(facts({ nodes: [node('a')], before: first, now: later }));
    expect(same).toEqual(first);
    const flipped = poolStatus(facts({ nodes: [node('a', { state: 'Working' })], before: first, now: later }));
    const times = Object.fromEntries(flipped.conditions.map((each) => [each.type, each.lastTransitionTime]));
    expect(times).toMatchObject({ Updated: later.toISOString(), NodeDegraded: start.toISOString() });
  });
});

describe('the history of a pool', () => {
  const old = { name: 'old', startedAt: start.toISOString(), sources: ['00-worker'] };

  test('begins an entry with a target, and ends it when all nodes have it', () => {
    const before = poolStatusSchema.parse({ history: [{ ...old, state: 'Done', completedAt: start.toISOString() }] });
    const moving = poolStatus(facts({ nodes: [node('a', { current: 'old' })], before }));
    expect(moving.history).toMatchObject([
      { name: 'new', state: 'Updating', sources: ['00-worker', '99-x'] },
      { name: 'old' },
    ]);
    const done = poolStatus(facts({ nodes: [node('a')], before: moving }));
    expect(done.history).toMatchObject([
      { name: 'new', state: 'Done', completedAt: start.toISOString() },
      { name: 'old' },
    ]);
  });

  test('says which target was replaced before all nodes had it', () => {
    const before = poolStatusSchema.parse({ history: [{ ...old, state: 'Updating' }] });
    expect(poolStatus(facts({ nodes: [node('a', { current: 'old' })], before })).history[1]).toMatchObject({
      name: 'old',
      state: 'Replaced',
    });
  });

  test('has the last twenty', () => {
    const history = Array.from({ length: 20 }, (_, index) => ({ ...old, name: `c${index}`, state: 'Done' }));
    const status = poolStatus(facts({ before: poolStatusSchema.parse({ history }) }));
    expect(status.history.map(({ name }) => name)).toEqual(['new', ...history.slice(0, 19).map(({ name }) => name)]);
  });
});
