// What a person asks of one pool: to pause, to go on, to go back to a configuration that it had.
import { type PoolRollback, poolRollbackAnnotation } from '../../contract/machine-config-node.ts';
import { machineConfigPoolKind } from '../../contract/machine-config-pool.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { PoolView } from '../../pool-rollout/pool-view.ts';
import { clusterErrors } from '../errors.ts';

export async function setPaused(
  client: KubernetesClient,
  { pool, isPaused, signal }: { readonly pool: string; readonly isPaused: boolean; readonly signal: AbortSignal },
): Promise<void> {
  await client.mergePatch({ ...machineConfigPoolKind, name: pool }, { spec: { paused: isPaused } }, { signal });
}

/** What the annotation of the pool has to say; null where it has to go, because the pool then renders to it anyway. */
export interface PlannedRollback {
  readonly to: string;
  readonly annotation: PoolRollback | null;
}

/**
 * To the configuration that all nodes had last; where all of them have the present one, to the one before it. Throws
 * where there is none.
 */
export function planRollback(pool: PoolView, to: string | undefined): PlannedRollback {
  const { name, from: hadLast, to: target, rollback, history } = pool;
  if (target === null) throw clusterErrors.NOTHING_TO_ROLL_BACK({ pool: name });
  const earlier = history.find((entry) => entry.state === 'Done' && entry.name !== target)?.name;
  const chosen = to ?? (hadLast !== null && hadLast !== target ? hadLast : earlier);
  if (chosen === undefined) throw clusterErrors.NOTHING_TO_ROLL_BACK({ pool: name });
  const insteadOf = rollback?.insteadOf ?? target;
  return { to: chosen, annotation: chosen === insteadOf ? null : { to: chosen, insteadOf } };
}

export async function requestRollback(
  client: KubernetesClient,
  {
    pool,
    annotation,
    signal,
  }: Pick<PlannedRollback, 'annotation'> & { readonly pool: string; readonly signal: AbortSignal },
): Promise<void> {
  const value = annotation === null ? null : JSON.stringify(annotation);
  const patch = { metadata: { annotations: { [poolRollbackAnnotation]: value } } };
  await client.mergePatch({ ...machineConfigPoolKind, name: pool }, patch, { signal });
}
