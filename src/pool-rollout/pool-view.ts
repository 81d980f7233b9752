// What a person is shown of the roll-out of a pool: its configuration and its target, its nodes, and the sentence that
// sums it up. `machine-config status`, `status`, `diagnose` and the commands that wait read the same value.
import { z } from 'zod';
import { type PoolRollback, poolRollbackAnnotation, readPoolRollback } from '../contract/machine-config-node.ts';
import { type PoolHistoryEntry, readPoolStatus } from '../contract/machine-config-pool.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { machineConfigPoolSchema } from '../machine-config/machine-config.ts';
import { type NodeView, nodeView } from './node-view.ts';
import { poolOfNode } from './pool-of-node.ts';

export type PoolState = 'updated' | 'updating' | 'paused' | 'degraded' | 'not rendered';

export interface PoolView {
  readonly name: string;
  readonly state: PoolState;
  /** The configuration that all of its nodes had last; null before the first one. */
  readonly from: string | null;
  /** The configuration that they are to have; null where none has been rendered yet. */
  readonly to: string | null;
  readonly isPaused: boolean;
  /** Why its MachineConfigs give no configuration; then nothing moves. */
  readonly renderProblem: string | null;
  readonly rollback: PoolRollback | null;
  readonly driftPolicy: string;
  readonly nodes: readonly NodeView[];
  readonly history: readonly PoolHistoryEntry[];
}

const poolSpec = z.object({
  paused: z.boolean().nullish(),
  configuration: z.object({ name: z.string().nullish() }).nullish(),
  driftPolicy: z.string().nullish(),
});

/** In order of name. A pool whose object cannot be read has no nodes here; its conditions say what is wrong. */
export function viewPools(pools: readonly KubernetesObject[], nodes: readonly KubernetesObject[]): readonly PoolView[] {
  const readable = pools.flatMap((pool) => machineConfigPoolSchema.safeParse(pool).data ?? []);
  const members = Map.groupBy(nodes, ({ metadata }) => {
    const membership = poolOfNode(metadata.labels ?? {}, readable);
    return membership.kind === 'member' ? membership.pool : undefined;
  });
  return pools
    .map((pool) => poolView(pool, members.get(pool.metadata.name) ?? []))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export function poolView(pool: KubernetesObject, nodes: readonly KubernetesObject[]): PoolView {
  const spec = poolSpec.safeParse(pool['spec']).data;
  const { configuration, conditions, history } = readPoolStatus(pool);
  const to = spec?.configuration?.name || undefined;
  const isPaused = spec?.paused === true;
  const views = nodes
    .map((node) => nodeView(node, { target: to, isPaused }))
    .toSorted((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }));
  const broken = conditions.find(({ type }) => type === 'RenderDegraded');
  const renderProblem = broken?.status === 'True' ? broken.message : null;
  const text = pool.metadata.annotations?.[poolRollbackAnnotation];
  return {
    name: pool.metadata.name,
    state: stateOf({ to, isPaused, renderProblem, nodes: views }),
    from: configuration?.name || null,
    to: to ?? null,
    isPaused,
    renderProblem,
    rollback: readPoolRollback(text) ?? null,
    driftPolicy: spec?.driftPolicy ?? 'Report',
    nodes: views,
    history,
  };
}

/** A pool is updated when every node has its target, whatever its controller has had time to write. */
function stateOf({
  to,
  isPaused,
  renderProblem,
  nodes,
}: Pick<PoolView, 'isPaused' | 'renderProblem' | 'nodes'> & { readonly to: string | undefined }): PoolState {
  if (renderProblem !== null || nodes.some(({ reason }) => reason !== null)) return 'degraded';
  if (to === undefined) return 'not rendered';
  if (nodes.every(({ phase }) => phase === 'done')) return 'updated';
  return isPaused ? 'paused' : 'updating';
}

/** How many of its nodes are where they are to be. */
export function updatedCount({ nodes }: PoolView): number {
  return nodes.filter(({ phase }) => phase === 'done').length;
}
