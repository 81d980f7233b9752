// metadata.json: the identity of the cluster that an asset folder belongs to. The file is made once; every later
// command and bootkube read it. Users may add fields, and Firstlight keeps them.
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

/** Returns undefined if the file does not exist yet. Throws CLUSTER_METADATA for a file that cannot be read. */
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

/** The name of the cluster on its platform. Two clusters on one host may share their name, but not their infraID. */
export function platformNameOf({ infraID }: Pick<ClusterMetadata, 'infraID'>): string {
  return infraID.toLowerCase();
}
