// The pools of a cluster with their nodes, as the API shows them now.
import { machineConfigPoolKind } from '../../contract/machine-config-pool.ts';
import type { Host } from '../../host/host.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { machineConfigErrors } from '../../machine-config/errors.ts';
import { type PoolView, viewPools } from '../../pool-rollout/pool-view.ts';
import { retry } from '../../workflow/retry.ts';

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

/** What a verb needs to ask the API about pools. */
export interface PoolCall {
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly client: KubernetesClient;
  readonly signal: AbortSignal;
}

/** For a verb that looks once: while masters reboot, the API may be away for a moment. */
export async function findPools({ host, client, signal }: PoolCall): Promise<readonly PoolView[]> {
  return retry(apiPatience({ host, signal }), () => observePools(client, signal));
}

export function poolViewNamed(pools: readonly PoolView[], name: string): PoolView {
  const found = pools.find((pool) => pool.name === name);
  if (found !== undefined) return found;
  throw machineConfigErrors.POOL_UNKNOWN({ pool: name, pools: pools.map((pool) => pool.name) });
}
