// The pools of a cluster with their nodes, as the API shows them now.
import { machineConfigPoolKind } from '../../contract/machine-config-pool.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { machineConfigErrors } from '../../machine-config/errors.ts';
import { machineConfigPoolSchema } from '../../machine-config/machine-config.ts';
import { poolOfNode } from '../../pool-rollout/pool-of-node.ts';
import { type PoolView, poolView } from '../../pool-rollout/pool-view.ts';

const nodeKind = { apiVersion: 'v1', kind: 'Node' } as const;

/** In order of name. */
export async function observePools(client: KubernetesClient, signal: AbortSignal): Promise<readonly PoolView[]> {
  const call = { signal, deadlineMs: 5_000 };
  const [pools, nodes] = await Promise.all([
    client.list(machineConfigPoolKind, {}, call),
    client.list(nodeKind, {}, call),
  ]);
  return viewPools(pools.items, nodes.items);
}

/** A pool whose object cannot be read is shown without nodes; its controller says in its conditions what is wrong. */
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

export function poolViewNamed(pools: readonly PoolView[], name: string): PoolView {
  const found = pools.find((pool) => pool.name === name);
  if (found !== undefined) return found;
  throw machineConfigErrors.POOL_UNKNOWN({ pool: name, pools: pools.map((pool) => pool.name) });
}
