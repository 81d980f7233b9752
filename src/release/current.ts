// The current release: one small file names its entries in the cache; a complete build replaces it atomically.
import { join } from 'node:path';
import { unpackTar } from 'modern-tar';
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import {
  type CacheEntry,
  cacheFolder,
  type EntryId,
  entryKinds,
  openCache,
  type ReleaseCache,
  readJsonFile,
} from './cache/cache.ts';
import { releaseErrors } from './errors.ts';
import { blobFolder } from './images/oci-image.ts';
import { type ReleaseManifest, releaseManifestSchema } from './release-manifest.ts';

const idSchema = z.object({ kind: z.enum(entryKinds), name: z.string(), inputs: z.record(z.string(), z.string()) });
const currentSchema = z.object({ format: z.literal(1), entries: z.array(idSchema) });

const currentFile = 'current.json';

export async function writeCurrent(host: Host, entries: readonly CacheEntry[]): Promise<void> {
  const ids: EntryId[] = entries.map(({ manifest: { kind, name, inputs } }) => ({ kind, name, inputs }));
  const text = `${JSON.stringify({ format: 1, entries: ids }, null, 2)}\n`;
  const path = join(cacheFolder(host.environment), currentFile);
  const before = await host.files.readIfPresent(path);
  if (before === undefined || Buffer.from(before).toString('utf8') !== text) await host.files.write(path, text);
}

export interface CurrentRelease {
  readonly cache: ReleaseCache;
  readonly manifest: ReleaseManifest;
  /** Digest of the release image's manifest; with the prefix `sha256:` it names the release. */
  readonly digest: string;
  readonly release: CacheEntry;
  readonly ids: readonly EntryId[];
}

/** The release that was built last; throws RELEASE_NOT_BUILT if there is none. */
export async function currentRelease(host: Host): Promise<CurrentRelease> {
  const cache = openCache(host);
  const ids = await currentIds(host);
  const id = ids.find(({ kind }) => kind === 'release');
  if (id === undefined) throw releaseErrors.NOT_BUILT({ folder: cache.folder });
  const release = await currentEntry(cache, id);
  const manifest = releaseManifestSchema.parse(release.manifest.facts['manifest']);
  const { digest } = z.object({ digest: z.string() }).parse(release.manifest.facts['image']);
  return { cache, manifest, digest, release, ids };
}

/** The entries of the current release; none if there is no release. */
export async function currentIds(host: Host): Promise<readonly EntryId[]> {
  const path = join(cacheFolder(host.environment), currentFile);
  return (await readJsonFile(host.files, path, currentSchema))?.entries ?? [];
}

/** An entry of the current release; throws RELEASE_ENTRY_DAMAGED if the cache finds damage. */
export async function currentEntry(cache: ReleaseCache, id: EntryId): Promise<CacheEntry> {
  const seen = await cache.look(id);
  if (seen.status === 'present') return seen.entry;
  const reason = seen.status === 'damaged' ? seen.reason : 'it is gone';
  throw releaseErrors.ENTRY_DAMAGED({ entry: `${id.kind} ${id.name}`, reason });
}

const imageManifestSchema = z.object({ layers: z.array(z.object({ digest: z.string() })).min(1) });

/** Reads one text file from the layer of the release image. */
export async function readLayerText(files: Files, { release, digest }: CurrentRelease, path: string): Promise<string> {
  const blob = (sha256: string): string => join(release.content, blobFolder, sha256.replace('sha256:', ''));
  const manifest = imageManifestSchema.parse(JSON.parse(await files.readText(blob(digest))));
  const layer = await files.read(blob(manifest.layers[0]?.digest ?? ''));
  const entries = await unpackTar(layer, { strict: true, filter: (header) => header.name === path });
  const [found] = entries;
  if (found?.data === undefined) throw new Error(`the release image has no ${path}`);
  return Buffer.from(found.data).toString('utf8');
}
