// What will happen to a pool when it gets another configuration: which files and units change, what each machine does
// for it, in which order, what is in the way, and how long it may take. A pure function of what is observed; the order
// is that of the controller, because it is asked.
import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { Difference } from '../../machine-config/diff.ts';
import { diffSpecs } from '../../machine-config/diff.ts';
import type { DisruptionPolicies } from '../../machine-config/disruption.ts';
import type { MachineConfigPool, MachineConfigSpec } from '../../machine-config/machine-config.ts';
import { drainPlan, podText } from '../../pool-rollout/drain-plan.ts';
import { nextNodes } from '../../pool-rollout/next-nodes.ts';
import type { RolloutNode } from '../../pool-rollout/rollout-node.ts';

export interface NamedSpec {
  readonly name: string;
  readonly spec: MachineConfigSpec;
}

export interface PlannedPool {
  readonly pool: string;
  /** Null where the pool has no configuration that could still be read. */
  readonly from: string | null;
  readonly to: string;
  readonly isPaused: boolean;
  readonly difference: Difference;
  /** The nodes in the order in which they change; those of one entry change at the same time. */
  readonly order: readonly (readonly string[])[];
  /** Nodes that do not change by themselves, each with what would have to happen first. */
  readonly held: readonly { readonly node: string; readonly reason: string }[];
  /** What would keep a node from being drained, as it is now. */
  readonly obstacles: readonly string[];
  /** Undefined where nothing moves. */
  readonly seconds: { readonly least: number; readonly most: number } | undefined;
}

export interface PoolToPlan {
  readonly pool: MachineConfigPool;
  readonly before: NamedSpec | undefined;
  readonly after: NamedSpec;
  readonly nodes: readonly RolloutNode[];
  readonly policies: DisruptionPolicies;
  /** Of the nodes of the pool, with all budgets; empty where nothing has to be drained. */
  readonly pods: readonly KubernetesObject[];
  readonly budgets: readonly KubernetesObject[];
  readonly reboot: RebootTime;
}

/** From the order to reboot to a kubelet that reports, in seconds. */
export interface RebootTime {
  readonly least: number;
  readonly most: number;
}

export function planRollOut(planned: PoolToPlan): PlannedPool {
  const { pool, before, after, nodes, policies } = planned;
  const difference = diffSpecs(before?.spec ?? after.spec, after.spec, policies);
  const isPaused = pool.spec.paused;
  const { order, held } = isPaused ? { order: [], held: [] } : orderOf(planned);
  const draining = difference.needsDrain ? nodes : [];
  return {
    pool: pool.metadata.name,
    from: before?.name ?? null,
    to: after.name,
    isPaused,
    difference,
    order,
    held,
    obstacles: draining.flatMap((node) => obstaclesOf(node, planned)),
    seconds: order.length === 0 ? undefined : timeOf(order, difference, planned),
  };
}

/** Asks the controller's own function again and again, with the nodes it chose taken as done. */
function orderOf({ pool, after, nodes }: PoolToPlan): Pick<PlannedPool, 'order' | 'held'> {
  const target = after.name;
  const { maxUnavailable } = pool.spec;
  const order: (readonly string[])[] = [];
  let now = nodes;
  for (;;) {
    const about = { pool: pool.metadata.name, target, isPaused: false, maxUnavailable, mastersMissing: [] };
    const { move, waitsFor } = nextNodes({ ...about, nodes: now });
    if (move.length === 0) {
      const left = now.filter(({ current }) => current !== target);
      const reason = waitsFor.join(', ') || 'it cannot take pods now';
      return { order, held: left.map(({ name }) => ({ node: name, reason })) };
    }
    // One that was told to change and has not begun has nothing to go back from.
    const changing = move.filter((name) => now.some((node) => node.name === name && node.current !== target));
    if (changing.length > 0) order.push(changing);
    now = now.map((node) => (move.includes(node.name) ? changed(node, target) : node));
  }
}

function changed(node: RolloutNode, target: string): RolloutNode {
  return { ...node, current: target, desired: target, state: 'Done', isHealthy: true, isCordoned: false };
}

function obstaclesOf({ name }: RolloutNode, { pods, budgets }: PoolToPlan): readonly string[] {
  const here = pods.filter((pod) => nodeOf(pod) === name);
  return drainPlan(here, budgets).blocked.map(
    ({ pod, budget, reason }) => `pod ${podText(pod)} on ${name}: the budget ${budget} ${reason}`,
  );
}

/** Writing files, asking the API and being asked: seen on small machines, seconds per node. */
const changeSeconds = { least: 1, most: 3 };
const actionSeconds = { least: 0, most: 3 };
/** After each master: until its etcd has caught up and its API serves, before the next one may go. */
const masterSeconds = { least: 3, most: 15 };

/** Nodes of one step change side by side, so the slowest of them counts. */
function timeOf(
  order: PlannedPool['order'],
  { actions, needsReboot, needsDrain }: Difference,
  planned: PoolToPlan,
): NonNullable<PlannedPool['seconds']> {
  const isActing = actions.some(({ kind }) => kind === 'reload' || kind === 'restart');
  const settling = planned.pool.metadata.name === 'master' ? masterSeconds : { least: 0, most: 0 };
  const steps = order.map((step) => {
    const grace = needsDrain ? Math.max(...step.map((node) => graceOf(node, planned))) : 0;
    return {
      least:
        changeSeconds.least +
        settling.least +
        (isActing ? actionSeconds.least : 0) +
        (needsReboot ? planned.reboot.least : 0),
      most:
        changeSeconds.most +
        settling.most +
        (isActing ? actionSeconds.most : 0) +
        grace +
        (needsReboot ? planned.reboot.most : 0),
    };
  });
  const sum = (key: 'least' | 'most'): number => steps.reduce((total, step) => total + step[key], 0);
  return { least: sum('least'), most: sum('most') };
}

const graceDefaultSeconds = 30;

/** The longest time that a pod of the node may take to end; zero where none has to go. */
function graceOf(node: string, { pods, budgets }: PoolToPlan): number {
  const here = pods.filter((pod) => nodeOf(pod) === node);
  const { evict, blocked, ending } = drainPlan(here, budgets);
  const leaving = new Set([...evict, ...blocked.map(({ pod }) => pod), ...ending].map(({ uid }) => uid));
  const graces = here
    .filter(({ metadata }) => leaving.has(metadata.uid ?? ''))
    .map((pod) => podSpec(pod).terminationGracePeriodSeconds ?? graceDefaultSeconds);
  return Math.max(0, ...graces);
}

function nodeOf(pod: KubernetesObject): string | undefined {
  return podSpec(pod).nodeName;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly terminationGracePeriodSeconds?: number;
}

function podSpec(pod: KubernetesObject): PodSpec {
  return pod['spec'] ?? {};
}
