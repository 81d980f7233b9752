// Which cluster belongs to an asset folder, from its files alone: for every verb except `create cluster`.
import { join } from 'node:path';
import { platformNameOf, readClusterMetadata } from '../contract/cluster-metadata.ts';
import { type Inventory, inventoryFile, inventorySchema } from '../contract/inventory.ts';
import type { Host } from '../host/host.ts';
import { choosePlatform } from '../platform/choose-platform.ts';
import type { PlacedCluster, Platform } from '../platform/platform.ts';
import { clusterErrors } from './errors.ts';

/** A cluster by the platform that has its machines, and by its name there. */
export interface ClusterHandle {
  readonly platform: Platform;
  readonly name: string;
}

export interface FoundCluster extends ClusterHandle {
  readonly clusterName: string;
  readonly clusterId: string;
  readonly inventory: Inventory;
  /** Undefined while the platform has no machines of it. */
  readonly placed: PlacedCluster | undefined;
}

/** Undefined when nothing was made from the folder yet. */
export async function findCluster(host: Host, dir: string): Promise<FoundCluster | undefined> {
  const [metadata, inventory] = await Promise.all([
    readClusterMetadata(host.files, dir),
    host.files.readIfPresent(join(dir, inventoryFile)),
  ]);
  if (metadata === undefined || inventory === undefined) return undefined;
  const { clusterName, clusterID } = metadata;
  const platform = choosePlatform(host, metadata.platform);
  const name = platformNameOf(metadata);
  return {
    clusterName,
    clusterId: clusterID,
    name,
    platform,
    inventory: inventorySchema.parse(JSON.parse(Buffer.from(inventory).toString('utf8'))),
    placed: await platform.findCluster(name),
  };
}

export async function mustFindCluster(host: Host, dir: string): Promise<FoundCluster> {
  const found = await findCluster(host, dir);
  if (found === undefined) throw clusterErrors.NO_CLUSTER({ dir });
  return found;
}

/** For commands that make or destroy machines; refuses where the platform leaves that to the user. */
export async function mustFindOwnMachines(host: Host, dir: string, command: string): Promise<FoundCluster> {
  const found = await mustFindCluster(host, dir);
  const { name: platform, createMachines } = found.platform;
  if (createMachines === undefined) throw clusterErrors.PLATFORM_NONE({ command, platform });
  return found;
}
