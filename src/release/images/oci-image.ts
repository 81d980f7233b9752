// An OCI image layout on disk (image-spec v1: oci-layout, index.json, blobs/sha256/…), written from our layers. JSON
// has a fixed order of keys and no times, so that the same layers always give the same digest.
import { join } from 'node:path';
import type { Files } from '../../host/files.ts';
import { type Digest, digestOf } from '../../workflow/digest.ts';
import { type ImageBlob, type LayerContent, writeLayer } from './oci-layer.ts';

export interface ImageConfig {
  readonly architecture: string;
  readonly entrypoint: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingFolder?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface ImageSpec {
  /** Without tag or digest: `release.firstlight.internal/etcd`. */
  readonly name: string;
  readonly tag: string;
  readonly config: ImageConfig;
  /** Layers of another image in the layout `from`, below ours. They are hard links, because a blob never changes. */
  readonly base?: { readonly from: string; readonly layers: readonly ImageBlob[] };
  readonly layers: readonly LayerContent[];
}

/** An image in a layout; `digest` is the digest of its manifest. */
export interface OciImage {
  readonly name: string;
  readonly tag: string;
  readonly digest: Digest;
  readonly manifestBytes: number;
  /** Of all blobs of the image. */
  readonly sizeBytes: number;
  /** From the lowest to the uppermost. */
  readonly layers: readonly ImageBlob[];
}

const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const;

export const blobFolder = 'blobs/sha256';

/** Writes the blobs of the image into the layout at `folder`. `writeIndex` follows after the last image. */
export async function writeImage(files: Files, folder: string, spec: ImageSpec): Promise<OciImage> {
  const blobs = join(folder, blobFolder);
  await files.makeFolder(blobs);
  const layers: ImageBlob[] = [...(spec.base?.layers ?? [])];
  for (const { digest } of layers) {
    await files.hardLink(join(spec.base?.from ?? '', blobFolder, digest), join(blobs, digest));
  }
  for (const [index, content] of spec.layers.entries()) {
    const temporary = join(folder, `layer-${index}`);
    const layer = await writeLayer(files, content, temporary);
    await files.rename(temporary, join(blobs, layer.digest));
    layers.push(layer);
  }
  const config = await writeBlob(files, blobs, configJson(spec.config, layers));
  const manifest = await writeBlob(files, blobs, manifestJson(config, layers, spec.config.labels));
  const sizeBytes = [config, manifest, ...layers].reduce((sum, blob) => sum + blob.sizeBytes, 0);
  const { name, tag } = spec;
  return { name, tag, digest: manifest.digest, manifestBytes: manifest.sizeBytes, sizeBytes, layers };
}

function configJson(config: ImageConfig, layers: readonly ImageBlob[]): unknown {
  const environment = Object.entries(config.environment ?? {}).map(([name, value]) => `${name}=${value}`);
  return {
    created: '1970-01-01T00:00:00Z',
    architecture: config.architecture,
    os: 'linux',
    config: {
      Env: environment.sort(),
      Entrypoint: config.entrypoint,
      ...(config.command === undefined ? {} : { Cmd: config.command }),
      WorkingDir: config.workingFolder ?? '/',
      ...(config.labels === undefined ? {} : { Labels: config.labels }),
    },
    rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${layer.digest}`) },
    history: layers.map(() => ({ created: '1970-01-01T00:00:00Z', created_by: 'firstlight release build' })),
  };
}

function manifestJson(config: ImageBlob, layers: readonly ImageBlob[], annotations: ImageConfig['labels']): unknown {
  return {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: mediaTypes.config, digest: `sha256:${config.digest}`, size: config.sizeBytes },
    layers: layers.map((layer) => ({
      mediaType: mediaTypes.layer,
      digest: `sha256:${layer.digest}`,
      size: layer.sizeBytes,
    })),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

async function writeBlob(files: Files, blobs: string, value: unknown): Promise<ImageBlob> {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = digestOf(bytes);
  await files.write(join(blobs, digest), bytes);
  return { digest, sizeBytes: bytes.length };
}

/** Lists each image twice: by tag for people, by digest for pods that name exactly the verified image. */
export async function writeIndex(files: Files, folder: string, images: readonly OciImage[]): Promise<void> {
  const entries = images.flatMap((image) => [
    indexEntry(image, referenceByTag(image), image.tag),
    indexEntry(image, referenceByDigest(image), image.digest),
  ]);
  await files.write(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await files.write(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: entries }),
  );
}

function indexEntry(image: OciImage, name: string, ref: string): unknown {
  return {
    mediaType: mediaTypes.manifest,
    digest: `sha256:${image.digest}`,
    size: image.manifestBytes,
    annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': ref },
  };
}

export function referenceByTag(image: Pick<OciImage, 'name' | 'tag'>): string {
  return `${image.name}:${image.tag}`;
}

export function referenceByDigest(image: Pick<OciImage, 'name' | 'digest'>): string {
  return `${image.name}@sha256:${image.digest}`;
}
