import { expect, test } from 'vitest';
import type { InPlacePhase } from '../../contract/in-place.ts';
import type { AttemptOrder } from './next-attempts.ts';
import { nextRunStep, type RunStatus } from './next-run-step.ts';
import { sampleAttempt, sampleNode } from './sample-attempt.ts';

const names = ['w1', 'w2', 'w3', 'w4'];
const orders = names.map((node) => ({ node, os: 'rhcos' as const, attemptId: 'id', notAfter: undefined }));
const nodes = names.map((name) => ({ ...sampleNode, name, isScheduled: false, isCordoned: false }));

/** The nodes that have begun, each with the phase of its attempt; undefined where it does not exist yet. */
function run(
  begun: readonly (InPlacePhase | undefined)[],
  more: { maxConcurrent?: number; state?: RunStatus['state']; orders?: readonly AttemptOrder[]; ageMs?: number } = {},
) {
  const { maxConcurrent = 1, state = 'Running', ageMs = 0 } = more;
  const entries = begun.map((_, n) => ({
    node: names[n] ?? '',
    attempt: `${names[n]}.id`,
    phase: 'Scheduled' as const,
    message: '',
  }));
  const failure = { phase: 'Applying', code: 'X', message: 'y' } as const;
  const attempts = begun.flatMap((phase, n) => {
    const isFailed = phase === 'Failed' || phase === 'RolledBack';
    const spec = { node: names[n] ?? '', attemptId: 'id' };
    return phase === undefined ? [] : [sampleAttempt({ phase, ...(isFailed ? { failure } : {}) }, spec)];
  });
  const spec = {
    pool: 'worker',
    nodes: names.map((name) => ({ name, attemptId: 'id' })),
    maxConcurrent,
    failuresMax: 2,
  };
  const { status, start } = nextRunStep({
    run: { name: 'r', createdAt: '2026-01-01T00:00:00Z', spec, status: { state, message: '', nodes: entries } },
    attempts,
    orders: more.orders ?? orders,
    nodes,
    now: new Date(Date.parse('2026-01-01T00:00:00Z') + ageMs),
  });
  return { start, state: status.state, message: status.message, begun: status.nodes.map(({ node }) => node) };
}

test('a node is written down before it is asked, and asked until its attempt is there', () => {
  expect(run([])).toMatchObject({ begun: ['w1'], start: [], state: 'Running' });
  expect(run([undefined])).toMatchObject({ begun: ['w1'], start: ['w1'] });
  expect(run(['Scheduled'])).toMatchObject({ begun: ['w1'], start: [] });
});

test('a node begins when the Secret of this run is seen, and one that never shows it counts as failed', () => {
  const former = orders.map((order) => ({ ...order, attemptId: 'former' }));
  for (const seen of [[], former]) {
    expect(run([], { orders: seen })).toMatchObject({ begun: [], state: 'Running' });
    expect(run([], { orders: seen, ageMs: 29_000 })).toMatchObject({ begun: [], state: 'Running' });
  }
  expect(run([], { orders: [], ageMs: 30_000 })).toMatchObject({ begun: ['w1'], message: '0 of 4 succeeded' });
  expect(run([], { orders: former, maxConcurrent: 4, ageMs: 30_000 }).message).toContain(
    'w1 (its Secret is not that of this run)',
  );
});

test('never more nodes are away than the run allows', () => {
  expect(run(['Applying'])).toMatchObject({ begun: ['w1'] });
  expect(run(['Succeeded', 'Applying'])).toMatchObject({ begun: ['w1', 'w2'] });
  expect(run(['Applying'], { maxConcurrent: 3 })).toMatchObject({ begun: ['w1', 'w2', 'w3'] });
});

test('one failure does not stop the line, two in a row do, and what runs goes on', () => {
  expect(run(['Failed'])).toMatchObject({ begun: ['w1', 'w2'], state: 'Running' });
  expect(run(['Failed', 'Succeeded', 'RolledBack'])).toMatchObject({ begun: names, state: 'Running' });
  expect(run(['Failed', 'RolledBack'])).toMatchObject({ begun: ['w1', 'w2'], state: 'Stopped' });
  expect(run(['Failed', 'RolledBack']).message).toBe('0 of 4 succeeded; 2 failures in a row: w1 (X: y), w2 (X: y)');
  expect(run(['Failed', 'RolledBack', 'Applying'], { maxConcurrent: 3 })).toMatchObject({ state: 'Stopped' });
});

test('a run ends when all of its nodes have', () => {
  expect(run(['Succeeded', 'Succeeded', 'Succeeded', 'Succeeded'])).toMatchObject({ state: 'Succeeded', start: [] });
  expect(run(['Succeeded', 'Failed', 'Succeeded', 'Succeeded'])).toMatchObject({
    state: 'Stopped',
    message: '3 of 4 succeeded; not w2 (X: y)',
  });
});

test('a run that a person ended begins nothing', () => {
  expect(run(['Succeeded', undefined], { state: 'Aborted' })).toMatchObject({
    begun: ['w1', 'w2'],
    start: [],
    state: 'Aborted',
  });
});
