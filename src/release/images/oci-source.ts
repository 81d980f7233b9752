// An image that somebody else made, in an OCI layout on the disk: a folder, or the tar file of one. Exactly one image
// for this processor must be in it. Every blob is hashed before it is believed; no name in the tar file is a path.
import { join } from 'node:path';
import { createTarDecoder } from 'modern-tar';
import { z } from 'zod';
import type { Files } from '../../host/files.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { Digest } from '../../workflow/digest.ts';
import { digestOfFile } from '../cache/tree.ts';
import { blobFolder } from './oci-image.ts';

const indexType = 'application/vnd.oci.image.index.v1+json';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';

const descriptor = z.object({
  mediaType: z.string().optional(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.number().int().nonnegative(),
  platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
});
type Descriptor = z.infer<typeof descriptor>;
const indexSchema = z.object({ manifests: z.array(descriptor) });
const manifestSchema = z.object({
  mediaType: z.string().default(manifestType),
  config: descriptor,
  layers: z.array(descriptor),
});
const configSchema = z.object({ architecture: z.string(), os: z.string() });

/** The caller knows the object and makes an error of it. */
export class UnusableImage extends Error {}

export interface SourceImage {
  /** Of its manifest. */
  readonly digest: Digest;
  readonly manifestBytes: number;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

/** A layout as a folder: the given one, or what the tar file holds, unpacked into `scratch`. */
export async function openLayout(files: Files, path: string, scratch: string): Promise<string> {
  const kind = (await files.facts(await realPathOf(files, path)))?.kind;
  if (kind === undefined) throw new UnusableImage('there is no such file');
  if (kind === 'folder') return path;
  await files.makeFolder(join(scratch, blobFolder));
  try {
    await unpackLayout(files, path, scratch);
  } catch (error) {
    throw new UnusableImage(`it is no tar file: ${error instanceof Error ? error.message : String(error)}`);
  }
  return scratch;
}

async function realPathOf(files: Files, path: string): Promise<string> {
  return files.realPath(path).catch(() => path);
}

const layoutName = /^(?:\.\/)?(oci-layout|index\.json|blobs\/sha256\/[0-9a-f]{64})$/;

async function unpackLayout(files: Files, path: string, to: string): Promise<void> {
  const archive = ReadableStream.from(files.stream(path)) as ReadableStream<Uint8Array<ArrayBuffer>>;
  for await (const { header, body } of archive.pipeThrough(createTarDecoder({ strict: true }))) {
    const name = layoutName.exec(header.name)?.[1];
    if (name === undefined || header.type !== 'file') await body.cancel();
    else await files.writeStream(join(to, name), body);
  }
}

/** Checks everything that the image consists of. */
export async function findImage(files: Files, layout: string, architecture: string): Promise<SourceImage> {
  const index = await readJson(files, join(layout, 'index.json'), indexSchema, 'index.json');
  const found = await manifestsOf(files, layout, index.manifests, architecture);
  const [chosen, ...others] = [...new Map(found.map((each) => [each.digest, each])).values()];
  if (chosen === undefined) throw new UnusableImage(`it has no image for linux/${architecture}`);
  if (others.length > 0)
    throw new UnusableImage(`it has ${others.length + 1} images for linux/${architecture}; one is needed`);
  await checkBlob(files, layout, chosen);
  const manifest = await readJson(files, blobPath(layout, chosen), manifestSchema, 'its manifest');
  if (manifest.mediaType !== manifestType) throw new UnusableImage(`its manifest is ${manifest.mediaType}, not OCI`);
  for (const blob of [manifest.config, ...manifest.layers]) await checkBlob(files, layout, blob);
  const config = await readJson(files, blobPath(layout, manifest.config), configSchema, 'its configuration');
  if (config.os !== 'linux' || config.architecture !== architecture)
    throw new UnusableImage(`it is for ${config.os}/${config.architecture}, this release is for linux/${architecture}`);
  const { config: about, layers } = manifest;
  return { digest: chosen.digest.replace('sha256:', ''), manifestBytes: chosen.size, config: about, layers };
}

/** An index may have further ones in it, one level deep, and images for other processors. */
async function manifestsOf(
  files: Files,
  layout: string,
  listed: readonly Descriptor[],
  architecture: string,
): Promise<readonly Descriptor[]> {
  const lists = listed.map(async (each): Promise<readonly Descriptor[]> => {
    if (each.platform !== undefined && each.platform.architecture !== architecture) return [];
    if (each.mediaType !== indexType) return [each];
    await checkBlob(files, layout, each);
    const inner = await readJson(files, blobPath(layout, each), indexSchema, 'an index');
    return inner.manifests.filter(({ platform }) => platform === undefined || platform.architecture === architecture);
  });
  return (await Promise.all(lists)).flat();
}

export function blobPath(layout: string, { digest }: Pick<Descriptor, 'digest'>): string {
  return join(layout, blobFolder, digest.replace('sha256:', ''));
}

async function checkBlob(files: Files, layout: string, blob: Descriptor): Promise<void> {
  const path = blobPath(layout, blob);
  const facts = await files.facts(path);
  if (facts?.kind !== 'file') throw new UnusableImage(`blob ${blob.digest} is missing`);
  if (facts.sizeBytes !== blob.size || `sha256:${await digestOfFile(files, path)}` !== blob.digest)
    throw new UnusableImage(`blob ${blob.digest} has another digest or size`);
}

async function readJson<T>(files: Files, path: string, schema: z.ZodType<T>, what: string): Promise<T> {
  const content = await files.readIfPresent(path);
  if (content === undefined) throw new UnusableImage(`${what} is missing: it is no OCI layout`);
  const read = schema.safeParse(jsonIfValid(content));
  if (!read.success) throw new UnusableImage(`${what} cannot be read: ${z.prettifyError(read.error)}`);
  return read.data;
}
