// An OCI layout, or one image of it, as a tar file that `ctr images import`, podman and skopeo read. The same layout
// always gives the same bytes.
import { join } from 'node:path';
import { z } from 'zod';
import type { Files } from '../../host/files.ts';
import { blobFolder } from './oci-image.ts';
import { type ImageBlob, type LayerItem, writeLayer } from './oci-layer.ts';

const indexSchema = z.looseObject({ manifests: z.array(z.looseObject({ digest: z.string() })) });
const manifestSchema = z.object({
  config: z.object({ digest: z.string() }),
  layers: z.array(z.object({ digest: z.string() })),
});

/** The whole layout. */
export async function writeArchive(files: Files, layout: string, path: string): Promise<ImageBlob> {
  const blobs = (await files.list(join(layout, blobFolder))) ?? [];
  return write(files, { layout, blobs, index: await files.readText(join(layout, 'index.json')), path });
}

/** Only the image whose manifest has this digest, under all of its names. */
export async function writeImageArchive(
  files: Files,
  layout: string,
  { digest, path }: { readonly digest: string; readonly path: string },
): Promise<ImageBlob> {
  const index = indexSchema.parse(JSON.parse(await files.readText(join(layout, 'index.json'))));
  const manifests = index.manifests.filter((manifest) => manifest.digest === `sha256:${digest}`);
  const manifest = manifestSchema.parse(JSON.parse(await files.readText(join(layout, blobFolder, digest))));
  const named = [manifest.config, ...manifest.layers].map((blob) => blob.digest.replace('sha256:', ''));
  return write(files, { layout, blobs: [digest, ...named], index: JSON.stringify({ ...index, manifests }), path });
}

interface Archive {
  readonly layout: string;
  readonly blobs: readonly string[];
  readonly index: string;
  readonly path: string;
}

function write(files: Files, { layout, blobs, index, path }: Archive): Promise<ImageBlob> {
  const item = (name: string): readonly [string, LayerItem] => [
    name,
    { kind: 'file', from: join(layout, name), mode: 0o644 },
  ];
  const content = ['oci-layout', ...blobs.map((name) => `${blobFolder}/${name}`)].map(item);
  return writeLayer(files, { ...Object.fromEntries(content), 'index.json': { kind: 'text', text: index } }, path);
}
