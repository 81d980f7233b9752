import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { attemptOrder, type NodesAndOrders, nextAttempts, orderInBrief, staleAttempts } from './next-attempts.ts';
import { sampleAttempt, sampleNode } from './sample-attempt.ts';

const order = { node: 'w1', os: 'rhcos', attemptId: 'bbbbbbbb-2', notAfter: '2026-01-01T02:00:00.000Z' } as const;
const node = { ...sampleNode, claim: '' };

function next(more: Partial<NodesAndOrders> = {}) {
  const now = new Date('2026-01-01T00:00:00.000Z');
  const seen = { nodes: [node], attempts: [], orders: [order], runs: [], clusterId: 'c', now, ...more };
  const { create, ignored } = nextAttempts(seen);
  return [...create.map(({ attemptId }) => attemptId), ...ignored.map(({ why }) => why)];
}

describe('a labelled node', () => {
  test('that is cordoned and has a Secret gets an attempt', () => {
    expect(next()).toEqual(['bbbbbbbb-2']);
    expect(next({ nodes: [{ ...node, isScheduled: false }] })).toEqual([]);
  });

  test('gets none, and the reason is said, without cordon, without Secret, or while its configuration changes', () => {
    expect(next({ nodes: [{ ...node, isCordoned: false }] })).toEqual(['the node is not cordoned']);
    expect(next({ orders: [] })).toEqual(['there is no Secret ipb-system/ipb-w1 with os and attempt-id']);
    expect(next({ nodes: [{ ...node, configState: 'Working' }] })).toEqual(['its machine configuration changes now']);
  });

  test('gets no second one while one runs, whatever the Secret says', () => {
    expect(next({ attempts: [sampleAttempt({ phase: 'Ready' })] })).toEqual([]);
    const cleared = { version: '1', bootId: 'b', at: '' };
    expect(next({ attempts: [sampleAttempt({ phase: 'Applying', cleared })] })).toEqual([
      'the label was set again while attempt aaaaaaaa-1 runs',
    ]);
  });

  test('gets none by an id that was used; after a failed preflight the label waits for a new id', () => {
    const used = { ...order, attemptId: 'aaaaaaaa-1' };
    const ended = (phase: 'Succeeded' | 'PreflightFailed') => [sampleAttempt({ phase })];
    expect(next({ orders: [used], attempts: ended('Succeeded') })[0]).toContain('has ended as Succeeded');
    expect(next({ orders: [used], attempts: ended('PreflightFailed') })).toEqual([]);
    expect(next({ attempts: ended('PreflightFailed') })).toEqual(['bbbbbbbb-2']);
  });
});

test('of a Secret only what orders an attempt is kept', () => {
  const text = (value: string): string => Buffer.from(value).toString('base64');
  const secret = (data: Record<string, string>): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'ipb-w1', namespace: 'ipb-system' },
    data,
  });
  const data = {
    os: text('rhel'),
    'attempt-id': text('x1\n'),
    'not-after': text('soon'),
    'bootstrap-token': text('s3'),
  };
  const brief = orderInBrief(secret(data));
  expect(JSON.stringify(brief)).not.toContain(text('s3'));
  expect(attemptOrder(brief)).toEqual({ node: 'w1', os: 'rhel', attemptId: 'x1', notAfter: undefined });
  expect(attemptOrder(orderInBrief(secret({ ...data, os: text('plan9') })))).toBeUndefined();
  expect(attemptOrder(orderInBrief(secret({ ...data, 'attempt-id': text('../x') })))).toBeUndefined();
});

test('ten attempts that have ended are kept of each node', () => {
  const at = (minute: number) => [
    { phase: 'Failed', at: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`, message: '' } as const,
  ];
  const attempts = Array.from({ length: 12 }, (_, n) => ({
    ...sampleAttempt({ phase: 'Failed', history: at(n) }),
    name: `w1.${n}`,
  }));
  expect(staleAttempts(attempts)).toEqual(['w1.1', 'w1.0']);
  expect(staleAttempts([...attempts.slice(2), { ...sampleAttempt({ phase: 'Applying' }), name: 'w1.x' }])).toEqual([]);
});
