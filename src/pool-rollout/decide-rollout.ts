// One look at the cluster, all decisions of the controller: a pure function. What is written follows from what is seen,
// so that a controller that starts anywhere, or twice, does the same.

import { type PoolStatus, readPoolStatus } from '../contract/machine-config-pool.ts';
import type { Missing } from '../contract/missing.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { MachineConfigPool } from '../machine-config/machine-config.ts';
import { needsMastersView, nextNodes, type PoolNodes } from './next-nodes.ts';
import { poolStatus } from './pool-conditions.ts';
import { poolOfNode } from './pool-of-node.ts';
import { type PoolTarget, poolTarget, type RenderedName } from './pool-target.ts';
import type { RolloutNode } from './rollout-node.ts';

export interface ObservedPool {
  readonly pool: MachineConfigPool;
  readonly object: KubernetesObject;
  /** What its MachineConfigs render to; undefined while they cannot be rendered. */
  readonly rendered: RenderedName | undefined;
  readonly renderProblem: string | undefined;
}

export interface ObservedRollout {
  readonly pools: readonly ObservedPool[];
  readonly nodes: readonly RolloutNode[];
  /** The names of the rendered configs that the API has. */
  readonly renderedConfigs: ReadonlySet<string>;
  readonly now: Date;
}

export interface PoolPlan {
  readonly pool: string;
  readonly object: KubernetesObject;
  readonly target: PoolTarget;
  readonly view: Omit<PoolNodes, 'mastersMissing'>;
}

export interface PoolDecision {
  readonly pool: string;
  readonly target: PoolTarget;
  readonly move: readonly string[];
  readonly status: PoolStatus;
  /** The nodes whose drift policy is another than their pool's. */
  readonly driftPolicies: readonly { readonly node: string; readonly policy: string | undefined }[];
}

/** Whether a decision needs to know how the masters are: they are asked only then. */
export function asksMasters(seen: ObservedRollout): boolean {
  return seen.pools.some((pool) => {
    if (pool.pool.metadata.name !== 'master') return false;
    return needsMastersView(poolNodes(pool, seen, targetOf(pool, seen)));
  });
}

export function decideRollout(seen: ObservedRollout, mastersMissing: readonly Missing[]): readonly PoolDecision[] {
  return seen.pools.map((each) => decidePool(each, seen, mastersMissing));
}

function decidePool(each: ObservedPool, seen: ObservedRollout, mastersMissing: readonly Missing[]): PoolDecision {
  const { pool, object, renderProblem } = each;
  const target = targetOf(each, seen);
  const view = poolNodes(each, seen, target);
  const { move, waitsFor } = nextNodes({ ...view, mastersMissing });
  const policy = pool.spec.driftPolicy === 'Revert' ? 'Revert' : undefined;
  return {
    pool: view.pool,
    target,
    move,
    status: poolStatus({
      pool: view.pool,
      generation: Number(object.metadata['generation'] ?? 0),
      isPaused: pool.spec.paused,
      target: target.name,
      sources: target.sources,
      nodes: view.nodes.map((node) => (move.includes(node.name) ? { ...node, desired: target.name } : node)),
      renderProblem,
      waitsFor,
      nodeProblems: ambiguousNodes(view.pool, seen),
      before: readPoolStatus(object),
      now: seen.now,
    }),
    driftPolicies: view.nodes
      .filter(({ driftPolicy }) => driftPolicy !== (policy ?? ''))
      .map(({ name }) => ({ node: name, policy })),
  };
}

function targetOf({ object, rendered }: ObservedPool, { renderedConfigs }: ObservedRollout): PoolTarget {
  return poolTarget(object, rendered, (name) => renderedConfigs.has(name));
}

function poolNodes(
  { pool }: ObservedPool,
  { pools, nodes }: ObservedRollout,
  target: PoolTarget,
): Omit<PoolNodes, 'mastersMissing'> {
  const { name } = pool.metadata;
  const all = pools.map((each) => each.pool);
  return {
    pool: name,
    target: target.name,
    isPaused: pool.spec.paused,
    maxUnavailable: pool.spec.maxUnavailable,
    nodes: nodes.filter(({ labels }) => {
      const membership = poolOfNode(labels, all);
      return membership.kind === 'member' && membership.pool === name;
    }),
  };
}

/** A node of two custom pools is nobody's; both say so. */
function ambiguousNodes(pool: string, { pools, nodes }: ObservedRollout): readonly string[] {
  const all = pools.map((each) => each.pool);
  return nodes.flatMap(({ name, labels }) => {
    const membership = poolOfNode(labels, all);
    if (membership.kind !== 'ambiguous' || !membership.pools.includes(pool)) return [];
    return [`Node ${name} is selected by more than one custom pool: ${membership.pools.join(', ')}`];
  });
}
