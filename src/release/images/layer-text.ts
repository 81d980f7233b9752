// Reads one text file out of the release image's layer.
import { join } from 'node:path';
import { unpackTar } from 'modern-tar';
import { z } from 'zod';
import type { Files } from '../../host/files.ts';
import type { CurrentRelease } from '../current.ts';
import { blobFolder } from './oci-image.ts';

const manifestSchema = z.object({ layers: z.array(z.object({ digest: z.string() })).min(1) });

export async function readLayerText(files: Files, { release, digest }: CurrentRelease, path: string): Promise<string> {
  const blob = (sha256: string): string => join(release.content, blobFolder, sha256.replace('sha256:', ''));
  const manifest = manifestSchema.parse(JSON.parse(await files.readText(blob(digest))));
  const layer = await files.read(blob(manifest.layers[0]?.digest ?? ''));
  const entries = await unpackTar(layer, { strict: true, filter: (header) => header.name === path });
  const [found] = entries;
  if (found?.data === undefined) throw new Error(`the release image has no ${path}`);
  return Buffer.from(found.data).toString('utf8');
}
