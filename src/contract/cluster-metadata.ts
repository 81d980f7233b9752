// metadata.json: which cluster an asset folder is about. Made once, read by every later command and by bootkube; users
// may add fields, which are kept.
import { join } from 'node:path';
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { clusterMetadataErrors } from './errors.ts';

export const clusterMetadataFile = 'metadata.json';

export const clusterMetadataSchema = z.looseObject({
  clusterName: z.string(),
  clusterID: z.uuid(),
  infraID: z.string(),
  platform: z.looseObject({ none: z.looseObject({}).optional() }),
});
export type ClusterMetadata = z.output<typeof clusterMetadataSchema>;

/** Undefined where nothing was made from the folder yet. Throws CLUSTER_METADATA for a file that cannot be read. */
export async function readClusterMetadata(files: Files, dir: string): Promise<ClusterMetadata | undefined> {
  const content = await files.readIfPresent(join(dir, clusterMetadataFile));
  if (content === undefined) return undefined;
  try {
    return clusterMetadataSchema.parse(JSON.parse(Buffer.from(content).toString('utf8')));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : 'it is not JSON';
    throw clusterMetadataErrors.METADATA({ path: join(dir, clusterMetadataFile), reason }, { cause: error });
  }
}

export function clusterMetadataText(metadata: ClusterMetadata): string {
  return `${JSON.stringify(metadata, null, 2)}\n`;
}

/** What a platform calls the cluster: two clusters on one host may share their name, but not this. */
export function platformNameOf({ infraID }: Pick<ClusterMetadata, 'infraID'>): string {
  return infraID.toLowerCase();
}
