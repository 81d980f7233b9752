// The images of an OCI layout (image-spec v1), with their names as containerd, podman and skopeo note them.
import { z } from 'zod';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { digestOfFile } from '../release/cache/tree.ts';
import {
  type ArchivedBlob,
  type ArchivedImage,
  type ArchivedManifest,
  type ArchiveFiles,
  UnusableArchive,
} from './archived-image.ts';

const descriptor = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.number().int().nonnegative(),
  annotations: z.record(z.string(), z.string()).optional(),
});
type Descriptor = z.infer<typeof descriptor>;
const indexSchema = z.object({ manifests: z.array(descriptor) });
const manifestSchema = z.object({ config: descriptor, layers: z.array(descriptor) });

const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

export async function layoutImages(archive: ArchiveFiles): Promise<readonly ArchivedImage[]> {
  const path = (await archive.pathOf('index.json')) ?? '';
  const { manifests } = parsed(await archive.files.read(path), indexSchema, 'index.json');
  const byDigest = Map.groupBy(manifests, ({ digest }) => digest);
  const images: ArchivedImage[] = [];
  for (const [first, ...others] of byDigest.values()) {
    if (first === undefined) continue;
    const names = [first, ...others].flatMap(({ annotations }) => nameIn(annotations) ?? []);
    images.push({ names: [...new Set(names)], ...(await imageOf(archive, first)) });
  }
  return images;
}

/** A reference that is only a tag is no name. */
function nameIn(annotations: Descriptor['annotations'] = {}): string | undefined {
  const name = annotations['io.containerd.image.name'] ?? annotations['org.opencontainers.image.ref.name'] ?? '';
  return /[/:]/.test(name) ? name : undefined;
}

async function imageOf(archive: ArchiveFiles, wanted: Descriptor): Promise<Omit<ArchivedImage, 'names'>> {
  const root = await manifestOf(archive, wanted);
  if (!indexTypes.includes(wanted.mediaType)) return { root, manifests: [], blobs: await blobsOf(archive, root) };
  const { manifests: listed } = parsed(root.text, indexSchema, 'an index');
  const manifests: ArchivedManifest[] = [];
  const blobs: ArchivedBlob[] = [];
  for (const each of listed) {
    const manifest = await manifestOf(archive, each);
    manifests.push(manifest);
    blobs.push(...(await blobsOf(archive, manifest)));
  }
  return { root, manifests, blobs };
}

async function manifestOf(archive: ArchiveFiles, { digest, size, mediaType }: Descriptor): Promise<ArchivedManifest> {
  const blob = await blobOf(archive, { digest, size });
  return { digest, mediaType, text: await archive.files.readText(blob.path) };
}

async function blobsOf(archive: ArchiveFiles, { text }: ArchivedManifest): Promise<readonly ArchivedBlob[]> {
  const { config, layers } = parsed(text, manifestSchema, 'a manifest');
  const blobs: ArchivedBlob[] = [];
  for (const each of [config, ...layers]) blobs.push(await blobOf(archive, each));
  return blobs;
}

async function blobOf(
  archive: ArchiveFiles,
  { digest, size }: Pick<Descriptor, 'digest' | 'size'>,
): Promise<ArchivedBlob> {
  const path = await archive.pathOf(`blobs/sha256/${digest.slice('sha256:'.length)}`);
  if (path === undefined) throw new UnusableArchive(`blob ${digest} is missing`);
  if (`sha256:${await digestOfFile(archive.files, path)}` !== digest)
    throw new UnusableArchive(`blob ${digest} has another digest`);
  return { digest, size, path };
}

function parsed<T>(content: Uint8Array | string, schema: z.ZodType<T>, what: string): T {
  const read = schema.safeParse(jsonIfValid(typeof content === 'string' ? Buffer.from(content) : content));
  if (!read.success) throw new UnusableArchive(`${what} cannot be read: ${z.prettifyError(read.error)}`);
  return read.data;
}
