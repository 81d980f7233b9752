// Which cluster a folder is about, from its files alone: for every verb that does not make it.
import { join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { type Inventory, inventorySchema } from '../contract/inventory.ts';
import { type LocalCluster, readLocalCluster } from '../platform/local/local-cluster.ts';
import { clusterErrors } from './errors.ts';

const metadataSchema = z.looseObject({
  clusterName: z.string(),
  clusterID: z.uuid(),
  infraID: z.string(),
  platform: z.looseObject({ none: z.looseObject({}).optional() }),
});

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
  const [metadata, inventory] = await Promise.all(
    ['metadata.json', 'inventory.json'].map((name) => host.files.readIfPresent(join(dir, name))),
  );
  if (metadata === undefined || inventory === undefined) return undefined;
  const { clusterName, clusterID, infraID, platform } = metadataSchema.parse(parse(metadata));
  const name = infraID.toLowerCase();
  return {
    clusterName,
    clusterId: clusterID,
    name,
    platform: platform.none === undefined ? 'local' : 'none',
    inventory: inventorySchema.parse(parse(inventory)),
    local: await readLocalCluster(host, name),
  };
}

export async function mustFindCluster(host: Host, dir: string): Promise<FoundCluster> {
  const found = await findCluster(host, dir);
  if (found === undefined) throw clusterErrors.NO_CLUSTER({ dir });
  return found;
}

function parse(content: Uint8Array): unknown {
  return JSON.parse(Buffer.from(content).toString('utf8'));
}
