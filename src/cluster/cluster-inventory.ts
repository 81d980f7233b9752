// The inventory where it counts: in the cluster, by which approvers decide, and in the asset folder, from which machines
// are made. The cluster's comes first and is changed only as it was read; the folder follows.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { type Inventory, inventorySchema, inventoryFile, inventoryText } from '../contract/inventory.ts';
import { inventoryConfigMap, inventoryKey } from '../contract/cluster-objects.ts';

export interface InventoryChange {
  readonly host: Host;
  readonly dir: string;
  readonly client: KubernetesClient;
  readonly change: (machines: Inventory['machines']) => Inventory['machines'];
  readonly signal: AbortSignal;
}

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
