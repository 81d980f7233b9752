// The manifest of a release: every part with version, digest, size, licence and source, every image, and one image
// reference per component. It is the first file of the release image; everything that installs a release reads it.
import { z } from 'zod';
import type { ReleasePayload } from '../operators/payload-files.ts';
import type { CacheEntry } from './cache/cache.ts';
import type { TreeItem } from './cache/tree.ts';
import { componentImageName, type ImageVariable, imageVariables, type Renderer } from './images/image-variables.ts';
import { imageOfEntry } from './images/images.ts';
import { referenceByDigest, referenceByTag } from './images/oci-image.ts';
import { operatorSummaries, releasePayload } from './release-payload.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const releaseManifestSchema = z.object({
  format: z.literal(1),
  version: z.string(),
  kubernetes: z.string().optional(),
  architecture: z.string(),
  parts: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      licence: z.string(),
      source: z.string(),
      /** How it was made: `go build`, `official binary`, `copy`, `bundle`. */
      made: z.string(),
      /** Of all its files. */
      digest: sha256,
      sizeBytes: z.number(),
      /** The inputs of its content, for parts whose build is not reproducible. */
      inputs: z.record(z.string(), z.string()),
      files: z.array(z.object({ path: z.string(), sha256, sizeBytes: z.number() })),
      debianPackages: z.record(z.string(), z.string()).optional(),
    }),
  ),
  images: z.array(
    z.object({ name: z.string(), reference: z.string(), tag: z.string(), digest: sha256, sizeBytes: z.number() }),
  ),
  imageVariables: z.record(
    z.string(),
    z.object({
      reference: z.string(),
      image: z.string(),
      original: z.string(),
      /** The component that it renders, by the name of its stage. */
      component: z.string().optional(),
      /** `built-in`, `image` or `nothing`: what renders the component. */
      renders: z.string(),
      why: z.string(),
    }),
  ),
  /** What it brings into a cluster, in the order in which it is applied; absent in releases of before. */
  operators: z
    .array(
      z.object({
        name: z.string(),
        level: z.number(),
        capability: z.string().optional(),
        why: z.string(),
        images: z.array(z.string()),
        files: z.array(z.string()),
      }),
    )
    .optional(),
  /** The Debian that machines run; absent in a release without machines. */
  debian: z
    .object({ suite: z.string(), digest: sha256, sizeBytes: z.number(), packages: z.record(z.string(), z.string()) })
    .optional(),
});
export type ReleaseManifest = z.infer<typeof releaseManifestSchema>;

export interface ListedEntry extends CacheEntry {
  readonly listing: readonly TreeItem[];
}

export interface ReleaseContent {
  readonly version: string;
  readonly architecture: string;
  readonly parts: readonly ListedEntry[];
  readonly images: readonly CacheEntry[];
  readonly debian?: CacheEntry;
}

/** What the payload of the release is made from. */
export function payloadOf(version: string, images: readonly CacheEntry[]): ReleasePayload {
  return releasePayload({ version, images: images.map(describeImage).sort(byName) });
}

export function releaseManifest(content: ReleaseContent): ReleaseManifest {
  const parts = content.parts.map(describePart).sort(byName);
  const kubernetes = parts.find((part) => part.name === 'kubernetes')?.version;
  return {
    format: 1,
    version: content.version,
    ...(kubernetes === undefined ? {} : { kubernetes }),
    architecture: content.architecture,
    parts,
    images: content.images.map(describeImage).sort(byName),
    imageVariables: variables(content.images),
    operators: operatorSummaries(payloadOf(content.version, content.images)).map((row) => ({
      ...row,
      images: [...row.images],
      files: [...row.files],
    })),
    ...(content.debian === undefined ? {} : { debian: describeDebian(content.debian) }),
  };
}

function describePart({ manifest, listing }: ListedEntry): ReleaseManifest['parts'][number] {
  const { facts, inputs } = manifest;
  const debian = facts['debianPackages'] as Record<string, string> | undefined;
  const { made = '', at: _, ...decisive } = inputs;
  return {
    name: manifest.name,
    version: String(facts['version']),
    licence: String(facts['licence']),
    source: String(facts['source']),
    made,
    digest: manifest.treeDigest,
    sizeBytes: manifest.sizeBytes,
    inputs: decisive,
    files: listing.flatMap(({ path, sha256, sizeBytes }) =>
      sha256 === undefined ? [] : [{ path, sha256, sizeBytes }],
    ),
    ...(debian === undefined ? {} : { debianPackages: debian }),
  };
}

function describeImage(entry: CacheEntry): ReleaseManifest['images'][number] {
  const image = imageOfEntry(entry);
  const { digest, sizeBytes } = image;
  return {
    name: entry.manifest.name,
    reference: referenceByDigest(image),
    tag: referenceByTag(image),
    digest,
    sizeBytes,
  };
}

function describeDebian({ manifest }: CacheEntry): ReleaseManifest['debian'] {
  return {
    suite: String(manifest.facts['suite']),
    digest: manifest.treeDigest,
    sizeBytes: manifest.sizeBytes,
    packages: manifest.facts['packages'] as Record<string, string>,
  };
}

function variables(images: readonly CacheEntry[]): ReleaseManifest['imageVariables'] {
  const references = new Map(images.map((entry) => [entry.manifest.name, referenceByDigest(imageOfEntry(entry))]));
  const rows = imageVariables.map((row) => variableRow(row, references));
  return Object.fromEntries(rows.filter(([, { reference }]) => reference !== ''));
}

/** A component whose own image is in the release is rendered by that image. */
function variableRow(
  { variable, image, original, component, why }: ImageVariable,
  references: ReadonlyMap<string, string>,
): readonly [string, ReleaseManifest['imageVariables'][string]] {
  const own = component === undefined ? undefined : componentImageName(component);
  if (own !== undefined && references.has(own)) {
    const reference = references.get(own) ?? '';
    const renders: Renderer = 'image';
    return [variable, { reference, image: own, original, ...named(component), renders, why: `renders ${component}` }];
  }
  const renders: Renderer = component === undefined ? 'nothing' : 'built-in';
  return [variable, { reference: references.get(image) ?? '', image, original, ...named(component), renders, why }];
}

function named(component: string | undefined): { readonly component?: string } {
  return component === undefined ? {} : { component };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
