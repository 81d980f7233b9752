// Changes the inventory of a running cluster: the machines that may join.
import { join } from 'node:path';
import { inventoryConfigMap, inventoryKey } from '../contract/cluster-objects.ts';
import { type Inventory, inventoryFile, inventorySchema, inventoryText } from '../contract/inventory.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';

export interface InventoryChange {
  readonly host: Host;
  readonly dir: string;
  readonly client: KubernetesClient;
  readonly change: (machines: Inventory['machines']) => Inventory['machines'];
  readonly signal: AbortSignal;
}

/**
 * Changes the inventory in the cluster, where approvers read it, and then in the asset folder, from which machines are
 * made. The API refuses the change if another command has changed the inventory meanwhile.
 */
export async function changeInventory({ host, dir, client, change, signal }: InventoryChange): Promise<Inventory> {
  const object = await client.get(inventoryConfigMap, { signal });
  const data = (object['data'] ?? {}) as Record<string, string>;
  const before = inventorySchema.parse(JSON.parse(data[inventoryKey] ?? ''));
  const after: Inventory = { ...before, machines: change(before.machines) };
  const text = inventoryText(after);
  await client.mergePatch(
    inventoryConfigMap,
    { metadata: { resourceVersion: object.metadata.resourceVersion }, data: { [inventoryKey]: text } },
    { signal },
  );
  await host.files.write(join(dir, inventoryFile), text);
  return after;
}
