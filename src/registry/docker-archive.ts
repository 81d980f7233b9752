// The images of an archive as `docker save` and `podman save` write it: a list of images with their configuration and
// layers as files. It has no manifests, so they are made here, as OCI ones.
import { z } from 'zod';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { digestOfFile } from '../release/cache/tree.ts';
import { digestOf } from '../workflow/digest.ts';
import { type ArchivedBlob, type ArchivedImage, type ArchiveFiles, UnusableArchive } from './archived-image.ts';

const listSchema = z.array(
  z.object({ Config: z.string(), RepoTags: z.array(z.string()).nullish(), Layers: z.array(z.string()) }),
);

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const configType = 'application/vnd.oci.image.config.v1+json';
const layerType = 'application/vnd.oci.image.layer.v1.tar';

export async function dockerImages(archive: ArchiveFiles): Promise<readonly ArchivedImage[]> {
  const path = (await archive.pathOf('manifest.json')) ?? '';
  const read = listSchema.safeParse(jsonIfValid(await archive.files.read(path)));
  if (!read.success) throw new UnusableArchive(`manifest.json cannot be read: ${z.prettifyError(read.error)}`);
  const images: ArchivedImage[] = [];
  for (const { Config, RepoTags, Layers } of read.data) {
    const config = await blobNamed(archive, Config);
    const layers: TypedBlob[] = [];
    for (const layer of Layers) layers.push(await layerNamed(archive, layer));
    const text = JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: described({ ...config, mediaType: configType }),
      layers: layers.map(described),
    });
    const root = { digest: `sha256:${digestOf(text)}`, mediaType: manifestType, text };
    images.push({ names: RepoTags ?? [], root, manifests: [], blobs: [config, ...layers] });
  }
  return images;
}

interface TypedBlob extends ArchivedBlob {
  readonly mediaType: string;
}

function described({ mediaType, digest, size }: TypedBlob): object {
  return { mediaType, digest, size };
}

async function blobNamed({ files, pathOf }: ArchiveFiles, name: string): Promise<ArchivedBlob> {
  const path = await pathOf(name);
  const facts = path === undefined ? undefined : await files.facts(path);
  if (path === undefined || facts === undefined) throw new UnusableArchive(`${name} is missing`);
  return { digest: `sha256:${await digestOfFile(files, path)}`, size: facts.sizeBytes, path };
}

async function layerNamed(archive: ArchiveFiles, name: string): Promise<TypedBlob> {
  const blob = await blobNamed(archive, name);
  for await (const start of archive.files.stream(blob.path)) {
    const isCompressed = start[0] === 0x1f && start[1] === 0x8b;
    return { ...blob, mediaType: isCompressed ? `${layerType}+gzip` : layerType };
  }
  return { ...blob, mediaType: layerType };
}
