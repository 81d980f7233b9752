// The inventory as a master knows it: from the API, or from a copy on the disk, so that a master finds the other
// members of etcd while no API answers.
import { type Inventory, inventoryText, readInventory } from '../contract/inventory.ts';
import type { Host } from '../host/host.ts';
import { writeIfChanged } from '../host/write-if-changed.ts';
import { type ClusterView, inventoryIn } from '../membership/cluster-view.ts';

const inventoryCopy = '/var/lib/firstlight/inventory.json';

/** From the API; while the API has not been read, from the copy on the disk. */
export async function knownInventory(host: Pick<Host, 'files'>, view: ClusterView): Promise<Inventory | undefined> {
  const current = inventoryIn(view.configMaps);
  if (current !== undefined) return current;
  const copy = await host.files.readIfPresent(inventoryCopy);
  return readInventory(copy === undefined ? undefined : Buffer.from(copy).toString('utf8'));
}

/** True when the copy was brought up to date. */
export async function keepInventoryCopy(host: Pick<Host, 'files'>, view: ClusterView): Promise<boolean> {
  const current = inventoryIn(view.configMaps);
  if (current === undefined) return false;
  const text = inventoryText(current);
  return writeIfChanged(host.files, { path: inventoryCopy, text, mode: 0o644 });
}
