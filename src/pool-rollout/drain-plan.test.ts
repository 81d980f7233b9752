import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { drainPlan, podText } from './drain-plan.ts';

const pod = (
  name: string,
  metadata: Partial<KubernetesObject['metadata']> = {},
  phase = 'Running',
): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', uid: name, ...metadata },
  status: { phase },
});

const budget = (spec: object, status: object): KubernetesObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'shop' },
  spec,
  status,
});

const owned = (kind: string) => ({ ownerReferences: [{ kind, name: 'x', controller: true }] });
const names = (pods: readonly { readonly name: string }[]) => pods.map(({ name }) => name);

describe('a drain', () => {
  test('evicts every pod that something else would not put there again, or that has ended', () => {
    const pods = [
      pod('bare'),
      pod('replica', owned('ReplicaSet')),
      pod('agent', owned('DaemonSet')),
      pod('static', { annotations: { 'kubernetes.io/config.mirror': 'x' }, ...owned('Node') }),
      pod('job', owned('Job'), 'Succeeded'),
      pod('broken', {}, 'Failed'),
    ];
    expect(names(drainPlan(pods, []).evict)).toEqual(['bare', 'replica']);
  });

  test('waits for a pod that is going, and does not ask it again', () => {
    const plan = drainPlan([pod('going', { deletionTimestamp: '2026-01-01T00:00:00Z' })], []);
    expect(plan).toMatchObject({ evict: [], blocked: [], ending: [{ name: 'going' }] });
  });

  test('names the budget that stands in the way, and what it needs', () => {
    const selector = { matchLabels: { app: 'web' } };
    const exhausted = budget({ selector }, { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 });
    const plan = drainPlan([pod('web-1', { labels: { app: 'web' } }), pod('other')], [exhausted]);
    expect(names(plan.evict)).toEqual(['other']);
    expect(plan.blocked).toMatchObject([
      { pod: { name: 'web-1' }, budget: 'shop/web', reason: 'needs 2 healthy pods and has 2' },
    ]);
    expect(podText(plan.blocked[0]!.pod)).toBe('shop/web-1');
  });

  test('is not held by a budget that allows one more, has no selector, or is in another namespace', () => {
    const spec = { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } };
    const web = pod('web-1', { labels: { app: 'web' } });
    expect(names(drainPlan([web], [budget(spec, { disruptionsAllowed: 1 })]).evict)).toEqual(['web-1']);
    expect(names(drainPlan([web], [budget({}, { disruptionsAllowed: 0 })]).evict)).toEqual(['web-1']);
    const elsewhere = { ...budget(spec, {}), metadata: { name: 'web', namespace: 'other' } };
    expect(names(drainPlan([web], [elsewhere]).evict)).toEqual(['web-1']);
  });

  test('is held by a budget that selects all pods of its namespace', () => {
    expect(drainPlan([pod('any')], [budget({ selector: {} }, { disruptionsAllowed: 0 })]).blocked).toHaveLength(1);
  });
});
