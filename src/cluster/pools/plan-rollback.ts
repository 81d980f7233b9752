// Where a pool goes when it is rolled back, and what that does to its machines. The MachineConfigs stay as they are: an
// annotation of the pool says what it is to have instead of what they render to.
import type { PoolRollback } from '../../contract/machine-config-node.ts';
import { clusterSources, isRenderedConfig } from '../../machine-config/cluster-sources.ts';
import { poolNamed } from '../../machine-config/load-objects.ts';
import { type PoolView, viewPools } from '../../pool-rollout/pool-view.ts';
import { clusterErrors } from '../errors.ts';
import { poolViewNamed } from './observe-pools.ts';
import { type PlanFacts, planPool } from './plan-facts.ts';
import type { PlannedPool } from './roll-out-plan.ts';

/** What a roll-back of one pool would do, and what its annotation then says. */
export function planRollback(
  facts: PlanFacts,
  { pool, to, generatedBy }: { readonly pool: string; readonly to: string | undefined; readonly generatedBy: string },
): { readonly plan: PlannedPool; readonly annotation: PoolRollback | null } {
  const sources = clusterSources(facts.sources, generatedBy);
  const view = poolViewNamed(viewPools(facts.sources.pools, facts.nodes), pool);
  const known = facts.sources.machineConfigs.filter(isRenderedConfig).map(({ metadata }) => metadata.name);
  const planned = rollbackTarget(view, { to, known });
  const target = sources.renderedConfig(planned.to);
  if (target === undefined) throw clusterErrors.CONFIG_UNKNOWN({ pool, config: planned.to });
  const change = { sources, pool: poolNamed(pool, sources.pools), to: planned.to, spec: target.spec };
  return { plan: planPool(facts, change), annotation: planned.annotation };
}

export interface RollbackTarget {
  readonly to: string;
  /** What the annotation of the pool has to say; null where it has to go, because the pool renders to it anyway. */
  readonly annotation: PoolRollback | null;
}

/**
 * Without a name: to the configuration that all nodes had last; where all of them have the present one, to the one
 * before it. A name may be cut short, as `machine-config history` shows it. Throws where there is none.
 */
export function rollbackTarget(
  pool: PoolView,
  named: { readonly to: string | undefined; readonly known: readonly string[] },
): RollbackTarget {
  const { name, from: hadLast, to: target, rollback, history } = pool;
  if (target === null) throw clusterErrors.NOTHING_TO_ROLL_BACK({ pool: name });
  const earlier = history.find((entry) => entry.state === 'Done' && entry.name !== target)?.name;
  const usual = hadLast !== null && hadLast !== target ? hadLast : earlier;
  const chosen = named.to === undefined ? usual : namedConfig(pool, { to: named.to, known: named.known });
  if (chosen === undefined) throw clusterErrors.NOTHING_TO_ROLL_BACK({ pool: name });
  const insteadOf = rollback?.insteadOf ?? target;
  return { to: chosen, annotation: chosen === insteadOf ? null : { to: chosen, insteadOf } };
}

function namedConfig(
  pool: PoolView,
  { to, known }: { readonly to: string; readonly known: readonly string[] },
): string {
  const start = to.replace(/(…|\.\.\.)$/, '');
  const prefix = `rendered-${pool.name}-`;
  const own = known.filter((config) => config.startsWith(prefix) && !config.slice(prefix.length).includes('-'));
  const [found, another] = own.filter((config) => config.startsWith(start));
  if (found === undefined || another !== undefined) throw clusterErrors.CONFIG_UNKNOWN({ pool: pool.name, config: to });
  return found;
}
