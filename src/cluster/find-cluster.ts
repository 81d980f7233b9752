// Which cluster a folder is about, from its files alone: for every verb that does not make it.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import { type Inventory, inventorySchema, inventoryFile } from '../contract/inventory.ts';
import { type LocalCluster, readLocalCluster } from '../platform/local/local-cluster.ts';
import { clusterErrors } from './errors.ts';
import { platformNameOf, readClusterMetadata } from '../contract/cluster-metadata.ts';

export interface FoundCluster {
  readonly clusterName: string;
  readonly clusterId: string;
  /** The platform's name of it. */
  readonly name: string;
  readonly platform: 'local' | 'none';
  readonly inventory: Inventory;
  /** Undefined on platform none, and while there are no machines. */
  readonly local: LocalCluster | undefined;
}

/** Undefined where nothing was made from the folder yet. */
export async function findCluster(host: Host, dir: string): Promise<FoundCluster | undefined> {
  const [metadata, inventory] = await Promise.all([
    readClusterMetadata(host.files, dir),
    host.files.readIfPresent(join(dir, inventoryFile)),
  ]);
  if (metadata === undefined || inventory === undefined) return undefined;
  const { clusterName, clusterID, platform } = metadata;
  const name = platformNameOf(metadata);
  return {
    clusterName,
    clusterId: clusterID,
    name,
    platform: platform.none === undefined ? 'local' : 'none',
    inventory: inventorySchema.parse(JSON.parse(Buffer.from(inventory).toString('utf8'))),
    local: await readLocalCluster(host, name),
  };
}

export async function mustFindCluster(host: Host, dir: string): Promise<FoundCluster> {
  const found = await findCluster(host, dir);
  if (found === undefined) throw clusterErrors.NO_CLUSTER({ dir });
  return found;
}

/** For commands that work on the machines themselves: on platform none these are not ours. */
export async function mustFindOwnMachines(host: Host, dir: string, command: string): Promise<FoundCluster> {
  const found = await mustFindCluster(host, dir);
  if (found.platform === 'none') throw clusterErrors.PLATFORM_NONE({ command });
  return found;
}
