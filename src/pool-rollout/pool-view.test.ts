import { describe, expect, test } from 'vitest';
import { nodeConfigAnnotations, poolRollbackAnnotation } from '../contract/machine-config-node.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { NodeView } from './node-view.ts';
import { poolView, updatedCount } from './pool-view.ts';

const [older, newer] = ['rendered-worker-old', 'rendered-worker-new'];
const since = '2026-01-01T00:00:00Z';

type Said = Partial<Record<keyof typeof nodeConfigAnnotations, string | object>>;

function node(name: string, said: Said, isReady = true): KubernetesObject {
  const annotations = Object.fromEntries(
    Object.entries(said).map(([key, value]) => [
      nodeConfigAnnotations[key as keyof typeof nodeConfigAnnotations],
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, annotations }, spec: {}, status: { conditions } };
}

function pool(spec: object = {}, more: Partial<KubernetesObject> = {}): KubernetesObject {
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name: 'worker' },
    spec: { configuration: { name: newer }, ...spec },
    status: { configuration: { name: older } },
    ...more,
  };
}

const done: Said = { current: newer, desired: newer, state: 'Done' };
const behind: Said = { current: older, desired: older, state: 'Done' };
const working = (phase: string, more: Said = {}): Said => ({
  current: older,
  desired: newer,
  state: 'Working',
  progress: { phase, since },
  ...more,
});

function seen(said: Said, isReady = true): NodeView {
  const [view] = poolView(pool(), [node('worker-0', said, isReady)]).nodes;
  if (view === undefined) throw new Error('no view');
  return view;
}

describe('the phase of a node, and what it waits for', () => {
  test.each<readonly [string, NodeView, NodeView['phase'], string | null]>([
    ['has its target', seen(done), 'done', null],
    ['has reported nothing', seen({}), 'unreported', 'its agent to report its configuration'],
    ['has not been chosen', seen(behind), 'queued', 'its turn'],
    ['was told a moment ago', seen({ ...behind, desired: newer }), 'starting', 'its agent to begin'],
    ['writes files', seen(working('applying')), 'applying', null],
    [
      'says itself what it waits for',
      seen(working('acting', { progress: { phase: 'acting', since, waitsFor: 'chronyd.service to start' } })),
      'acting',
      'chronyd.service to start',
    ],
    ['reboots', seen(working('rebooting'), false), 'rebooting', 'its kubelet to report again'],
    ['was drained for nobody knows whom', seen(working('draining')), 'draining', 'its pods to be evicted'],
  ])('a node that %s', (_, view, phase, waitsFor) => {
    expect(view).toMatchObject({ phase, waitsFor, reason: null });
  });

  test('a drain names the pod and the budget in its way before the pods that are ending', () => {
    const left = ['default/web-1', 'default/web-2'];
    const blocked = [{ pod: 'default/web-1', budget: 'default/web', reason: 'Cannot evict pod' }];
    const drainProgress = { since, left, leftCount: 2, blocked };
    expect(seen(working('draining', { drainProgress })).waitsFor).toBe(
      'pod default/web-1: the budget default/web forbids its eviction',
    );
    expect(seen(working('draining', { drainProgress: { ...drainProgress, blocked: [] } })).waitsFor).toBe(
      '2 pods: default/web-1, default/web-2',
    );
  });

  test('a degraded node says why, also when what it says of its progress is of no use', () => {
    const said: Said = { ...working('applying'), state: 'Degraded', reason: 'content mismatch for file /etc/motd' };
    expect(seen({ ...said, progress: '{"phase":' })).toMatchObject({
      phase: 'degraded',
      reason: 'content mismatch for file /etc/motd',
      waitsFor: null,
    });
  });
});

describe('the state of a pool', () => {
  test('is updated when every node has its target, and not before', () => {
    const nodes = [node('worker-10', done), node('worker-2', behind)];
    const view = poolView(pool(), nodes);
    expect([view.state, updatedCount(view), view.nodes.map(({ name }) => name)]).toEqual([
      'updating',
      1,
      ['worker-2', 'worker-10'],
    ]);
    expect(poolView(pool(), [node('worker-10', done)]).state).toBe('updated');
  });

  test('is paused only as long as a node is behind', () => {
    const paused = { paused: true };
    expect(poolView(pool(paused), [node('worker-0', done)]).state).toBe('updated');
    const view = poolView(pool(paused), [node('worker-0', behind)]);
    expect([view.state, view.nodes[0]?.waitsFor]).toEqual(['paused', 'the pool to be resumed']);
  });

  test('is degraded by one node, or by MachineConfigs that cannot be rendered', () => {
    const bad = node('worker-1', { ...behind, state: 'Degraded', reason: 'no space left' });
    expect(poolView(pool(), [node('worker-0', done), bad]).state).toBe('degraded');
    const message = '99-kernel: kernelArguments cannot be honoured';
    const conditions = [{ type: 'RenderDegraded', status: 'True', message }];
    const view = poolView(pool({}, { status: { conditions } }), [node('worker-0', done)]);
    expect([view.state, view.renderProblem]).toEqual(['degraded', message]);
  });

  test('knows what a person asked it to go back to', () => {
    const rollback = { to: older, insteadOf: newer };
    const annotations = { [poolRollbackAnnotation]: JSON.stringify(rollback) };
    expect(poolView(pool({}, { metadata: { name: 'worker', annotations } }), []).rollback).toEqual(rollback);
  });
});
