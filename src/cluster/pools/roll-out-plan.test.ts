import { expect, test } from 'vitest';
import { nodeConfigAnnotations } from '../../contract/machine-config-node.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { noDisruptionPolicies } from '../../machine-config/disruption.ts';
import { configSpec, machineConfigPoolSchema } from '../../machine-config/machine-config.ts';
import { rolloutNode } from '../../pool-rollout/rollout-node.ts';
import { type PoolToPlan, planRollOut } from './roll-out-plan.ts';

const [older, newer] = ['rendered-worker-old', 'rendered-worker-new'];

function node(name: string, more: { readonly isReady?: boolean; readonly age?: number } = {}): KubernetesObject {
  const { isReady = true, age = 0 } = more;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      creationTimestamp: `2026-01-0${9 - age}T00:00:00Z`,
      annotations: {
        [nodeConfigAnnotations.current]: older,
        [nodeConfigAnnotations.desired]: older,
        [nodeConfigAnnotations.state]: 'Done',
      },
    },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

function pool(name: string, spec: object = {}) {
  return machineConfigPoolSchema.parse({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name },
    spec,
  });
}

const withFile = (path: string) =>
  configSpec({
    ignition: { version: '3.5.0' },
    storage: { files: [{ path, contents: { source: 'data:,x' } }] },
  });
const nothing = configSpec({ ignition: { version: '3.5.0' } });

function plan(change: Partial<Omit<PoolToPlan, 'nodes'>> & { readonly nodes: readonly KubernetesObject[] }) {
  const { nodes, ...more } = change;
  return planRollOut({
    pool: pool('worker'),
    before: { name: older, spec: nothing },
    after: { name: newer, spec: withFile('/etc/motd') },
    policies: noDisruptionPolicies,
    pods: [],
    budgets: [],
    reboot: { least: 5, most: 10 },
    ...more,
    nodes: nodes.map(rolloutNode),
  });
}

const three = [node('worker-0'), node('worker-1', { age: 2 }), node('worker-2', { age: 1 })];

test('nodes change in the order of the controller: the oldest first, as many at once as may be unavailable', () => {
  expect(plan({ nodes: three }).order).toEqual([['worker-1'], ['worker-2'], ['worker-0']]);
  expect(plan({ nodes: three, pool: pool('worker', { maxUnavailable: 2 }) }).order).toEqual([
    ['worker-1', 'worker-2'],
    ['worker-0'],
  ]);
});

test('masters change one at a time, whatever their pool allows', () => {
  const order = plan({ nodes: three, pool: pool('master', { maxUnavailable: 3 }) }).order;
  expect(order.map((step) => step.length)).toEqual([1, 1, 1]);
});

test('a node that is not Ready holds the pool, and the plan says so', () => {
  const { order, held } = plan({ nodes: [node('worker-0', { isReady: false }), node('worker-1')] });
  expect(order).toEqual([]);
  expect(held.map((one) => one.node)).toEqual(['worker-0', 'worker-1']);
});

test('a paused pool changes nothing now, and takes no time', () => {
  expect(plan({ nodes: three, pool: pool('worker', { paused: true }) })).toMatchObject({
    isPaused: true,
    order: [],
    seconds: undefined,
    difference: { needsReboot: true },
  });
});

const pod = (name: string, nodeName: string, grace: number): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', uid: name, labels: { app: 'web' } },
  spec: { nodeName, terminationGracePeriodSeconds: grace },
  status: { phase: 'Running' },
});
const budget: KubernetesObject = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { selector: { matchLabels: { app: 'web' } } },
  status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 },
};

test('a reboot takes as long as the pods of the machine may take to end; nobody else’s pods count', () => {
  const pods = [pod('slow', 'worker-0', 300), pod('quick', 'worker-1', 1), pod('elsewhere', 'master-0', 3_000)];
  const { seconds } = plan({ nodes: [node('worker-0'), node('worker-1')], pods });
  expect(seconds).toEqual({ least: 12, most: 327 });
});

test('a budget that lets nobody go now is named before anything has begun', () => {
  const pods = [pod('web-1', 'worker-0', 1)];
  expect(plan({ nodes: [node('worker-0')], pods, budgets: [budget] }).obstacles).toEqual([
    'pod shop/web-1 on worker-0: the budget shop/web needs 1 healthy pods and has 1',
  ]);
});

test('what needs no reboot drains nobody, so no budget is in the way', () => {
  const after = { name: newer, spec: withFile('/etc/sysctl.d/99-x.conf') };
  const pods = [pod('web-1', 'worker-0', 300)];
  expect(plan({ nodes: [node('worker-0')], pods, budgets: [budget], after })).toMatchObject({
    obstacles: [],
    seconds: { least: 1, most: 6 },
    difference: { needsReboot: false, needsDrain: false },
  });
});
