// What a person changes about pools: new objects, and one pool that pauses, goes on or goes back.
import { type PoolRollback, poolRollbackAnnotation } from '../../contract/machine-config-node.ts';
import { machineConfigPoolKind } from '../../contract/machine-config-pool.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { ObjectChange } from './plan-apply.ts';

export async function setPaused(
  client: KubernetesClient,
  { pool, isPaused, signal }: { readonly pool: string; readonly isPaused: boolean; readonly signal: AbortSignal },
): Promise<void> {
  await client.mergePatch({ ...machineConfigPoolKind, name: pool }, { spec: { paused: isPaused } }, { signal });
}

export interface RollbackRequest {
  readonly pool: string;
  /** Null: the pool goes where its MachineConfigs lead. */
  readonly annotation: PoolRollback | null;
  readonly signal: AbortSignal;
}

export async function requestRollback(
  client: KubernetesClient,
  { pool, annotation, signal }: RollbackRequest,
): Promise<void> {
  const value = annotation === null ? null : JSON.stringify(annotation);
  const patch = { metadata: { annotations: { [poolRollbackAnnotation]: value } } };
  await client.mergePatch({ ...machineConfigPoolKind, name: pool }, patch, { signal });
}

/**
 * Writes the objects of a plan, each as a whole, so that a field that left the file leaves the cluster. Where somebody
 * has changed one since it was planned, the API refuses it.
 */
export async function applyObjects(
  client: KubernetesClient,
  objects: readonly ObjectChange[],
  signal: AbortSignal,
): Promise<void> {
  // Pools last: one that selects a MachineConfig is rendered once, with it.
  const isPool = ({ object }: ObjectChange): boolean => object.kind === machineConfigPoolKind.kind;
  for (const { object, change } of [...objects.filter((one) => !isPool(one)), ...objects.filter(isPool)]) {
    if (change === 'added') await client.create(object, { signal });
    if (change === 'changed') await client.replace(object, { signal });
  }
}
