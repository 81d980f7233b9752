import { expect, test } from 'vitest';
import type { PlannedPool } from '../../cluster/pools/roll-out-plan.ts';
import type { NodeView } from '../../pool-rollout/node-view.ts';
import type { PoolView } from '../../pool-rollout/pool-view.ts';
import { changedLines } from '../../screen/frame.ts';
import { planText } from './plan-text.ts';
import { historyText, poolsText, rollOutFrame } from './pool-text.ts';

const older = `rendered-worker-0123abcd${'0'.repeat(24)}`;
const newer = `rendered-worker-4567cdef${'0'.repeat(24)}`;
const at = '2026-01-01T00:00:00.000Z';

function node(name: string, change: Partial<NodeView> = {}): NodeView {
  return {
    name,
    from: newer,
    to: newer,
    phase: 'done',
    waitsFor: null,
    reason: null,
    drain: null,
    since: null,
    isReady: true,
    isCordoned: false,
    ...change,
  };
}

function pool(change: Partial<PoolView> = {}): PoolView {
  return {
    name: 'worker',
    state: 'updating',
    from: older,
    to: newer,
    isPaused: false,
    renderProblem: null,
    rollback: null,
    driftPolicy: 'Report',
    nodes: [],
    history: [],
    ...change,
  };
}

const blocked = [{ pod: 'shop/web-1', budget: 'shop/web', reason: 'needs 1 healthy pods and has 1' }];
const draining = node('worker-1', {
  from: older,
  phase: 'draining',
  waitsFor: 'pod shop/web-1: the budget shop/web forbids its eviction',
  drain: { since: at, left: ['shop/web-1'], leftCount: 1, blocked },
});

test('status: a line per pool and per node, with what it waits for', () => {
  expect(poolsText([pool({ nodes: [node('worker-0'), draining] })]).split('\n')).toEqual([
    'POOL    STATE     UPDATED  CONFIGURATION',
    'worker  updating  1 of 2   rendered-worker-0123abcd… → rendered-worker-4567cdef…',
    '',
    'NODE      POOL    PHASE     FROM → TO                                              WAITS FOR',
    'worker-0  worker  done      rendered-worker-4567cdef…',
    'worker-1  worker  draining  rendered-worker-0123abcd… → rendered-worker-4567cdef…  pod shop/web-1: the budget shop/web forbids its eviction',
    '',
  ]);
});

test('status: a degraded pool names the way back, a paused one the way on', () => {
  const bad = node('worker-0', { from: older, phase: 'degraded', reason: 'bad.service does not start' });
  expect(poolsText([pool({ state: 'degraded', nodes: [bad] })])).toContain(
    'worker stops at a degraded node; firstlight machine-config rollback worker brings it back',
  );
  expect(poolsText([pool({ state: 'paused', isPaused: true })])).toContain('machine-config resume worker');
});

test('history: the newest first, how long each took, and what came or went', () => {
  const sources = ['00-worker', '01-worker-kubelet'];
  const history: PoolView['history'] = [
    { name: newer, startedAt: '2026-01-01T00:01:00.000Z', sources: [...sources, '99-motd'], state: 'Updating' },
    { name: older, startedAt: at, completedAt: '2026-01-01T00:00:14.500Z', sources, state: 'Done' },
  ];
  expect(historyText([pool({ history })]).split('\n')).toEqual([
    'POOL    CONFIGURATION                BEGAN                 TOOK    STATE     MACHINECONFIGS',
    'worker  rendered-worker-4567cdef… *  2026-01-01T00:01:00Z  -       Updating  +99-motd',
    'worker  rendered-worker-0123abcd…    2026-01-01T00:00:00Z  14.5 s  Done      2',
    '',
  ]);
});

test('on a pipe a roll-out is a line per change; a drain is repeated only when another budget is in its way', () => {
  const frame = (view: PoolView) =>
    rollOutFrame([view], { title: 'worker', elapsedMs: 0, likely: undefined, waiting: new Set<string>() });
  const first = frame(
    pool({ nodes: [node('worker-0'), { ...draining, drain: null, waitsFor: 'its pods to be evicted' }] }),
  );
  const second = frame(pool({ nodes: [node('worker-0'), draining] }));
  const again = frame(pool({ nodes: [node('worker-0'), { ...draining, waitsFor: 'pod shop/web-1: still' }] }));
  expect(changedLines(undefined, first)).toEqual([
    '▸ worker: 1 of 2 have rendered-worker-4567cdef…',
    '    worker-1: draining: waits for its pods to be evicted',
  ]);
  expect(changedLines(first, second)).toEqual([
    '    worker-1: draining: waits for pod shop/web-1: the budget shop/web forbids its eviction',
  ]);
  expect(changedLines(second, again)).toEqual([]);
});

test('a plan: what changes, what each machine does, in which order, what is in the way, how long', () => {
  const planned: PlannedPool = {
    pool: 'worker',
    from: older,
    to: newer,
    isPaused: false,
    difference: {
      changes: [
        {
          kind: 'file',
          name: '/etc/motd',
          change: 'added',
          fields: [],
          disruption: { actions: [{ kind: 'reboot' }], why: 'no rule says how to do with less' },
        },
      ],
      actions: [{ kind: 'reboot' }],
      needsReboot: true,
      needsDrain: true,
    },
    order: [['worker-1'], ['worker-0']],
    held: [],
    obstacles: ['pod shop/web-1 on worker-0: the budget shop/web needs 1 healthy pods and has 1'],
    seconds: { least: 8, most: 150 },
  };
  const object = { apiVersion: 'v1', kind: 'MachineConfig', metadata: { name: '99-motd' } };
  expect(planText({ objects: [{ object, change: 'added' }], pools: [planned], warnings: [] }).split('\n')).toEqual([
    '  +  MachineConfig  99-motd  added',
    '',
    'worker   rendered-worker-0123abcd… → rendered-worker-4567cdef…',
    '  +  file  /etc/motd  reboot  no rule says how to do with less',
    '  on each     cordoned, drained, changed, rebooted once',
    '  order       worker-1, then worker-0',
    '  in the way  pod shop/web-1 on worker-0: the budget shop/web needs 1 healthy pods and has 1',
    '  time        8 s to 3 min; the longer, the longer its pods take to end; and as long as a budget is in the way',
    '',
  ]);
});
