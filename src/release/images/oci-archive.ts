// An OCI layout as one tar file, as `ctr images import`, podman and skopeo read it; deterministic like the layers.
import { join } from 'node:path';
import type { Files } from '../../host/files.ts';
import { type Blob, type LayerItem, writeLayer } from './oci-layer.ts';
import { blobFolder } from './oci-image.ts';

export async function writeArchive(files: Files, layout: string, path: string): Promise<Blob> {
  const blobs = ((await files.list(join(layout, blobFolder))) ?? []).map((name) => `${blobFolder}/${name}`);
  const item = (name: string): readonly [string, LayerItem] => [
    name,
    { kind: 'file', from: join(layout, name), mode: 0o644 },
  ];
  return writeLayer(files, Object.fromEntries(['index.json', 'oci-layout', ...blobs].map(item)), path);
}
