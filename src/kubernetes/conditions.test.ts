import { expect, test } from 'vitest';
import { conditionOf, conditionsOf, hasCondition } from './conditions.ts';
import type { KubernetesObject } from './object.ts';

const pod = (status?: unknown): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'etcd-master-0' },
  ...(status === undefined ? {} : { status }),
});

test('a condition is read with its message and the time since when it is so', () => {
  const ready = { type: 'Ready', status: 'False', message: 'it restarts', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const since = new Date('2026-01-01T00:00:00Z');
  expect(conditionOf(pod({ conditions: [{ type: 'Initialized', status: 'True' }, ready] }), 'Ready')).toEqual({
    type: 'Ready',
    status: 'False',
    message: 'it restarts',
    since,
  });
});

test('a condition without message and time is one, and so is one where the API wrote null', () => {
  const bare = { type: 'Ready', status: 'True', message: '', since: undefined };
  const written = [
    { type: 'Ready', status: 'True' },
    { type: 'Ready', status: 'True', message: null, lastTransitionTime: null },
  ];
  for (const each of written) expect(conditionsOf(pod({ conditions: [each] }))).toEqual([bare]);
  expect(hasCondition(pod({ conditions: written }), 'Ready')).toBe(true);
});

test('an object without a status, or whose list nobody has filled, has no conditions', () => {
  for (const status of [undefined, null, {}, { conditions: null }, { conditions: 'Ready' }]) {
    expect(conditionsOf(pod(status))).toEqual([]);
    expect(hasCondition(pod(status), 'Ready')).toBe(false);
  }
});
