// What a person changes about pools: new objects, and one pool that pauses, goes on or goes back.
import { type PoolRollback, poolRollbackAnnotation } from '../../contract/machine-config-node.ts';
import { machineConfigPoolKind } from '../../contract/machine-config-pool.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { retry } from '../../workflow/retry.ts';
import type { PoolCall } from './observe-pools.ts';
import type { ObjectChange } from './plan-apply.ts';

export async function setPaused(call: PoolCall, pool: string, isPaused: boolean): Promise<void> {
  await patchPool(call, pool, { spec: { paused: isPaused } });
}

/** Without an annotation the pool goes where its MachineConfigs lead. */
export async function requestRollback(call: PoolCall, pool: string, annotation: PoolRollback | null): Promise<void> {
  const value = annotation === null ? null : JSON.stringify(annotation);
  await patchPool(call, pool, { metadata: { annotations: { [poolRollbackAnnotation]: value } } });
}

/** The same patch twice gives the same pool. */
async function patchPool({ host, client, signal }: PoolCall, pool: string, patch: object): Promise<void> {
  await retry(apiPatience({ host, signal }), () =>
    client.mergePatch({ ...machineConfigPoolKind, name: pool }, patch, { signal }),
  );
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
