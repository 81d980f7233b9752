// The current release: one small file names its entries in the cache; a complete build replaces it atomically.
import { join } from 'node:path';
import { unpackTar } from 'modern-tar';
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { digestOf } from '../workflow/digest.ts';
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
export async function readLayerText(files: Files, current: CurrentRelease, path: string): Promise<string> {
  const found = (await readLayerTexts(files, current, (name) => name === path))[path];
  if (found === undefined) throw new Error(`the release image has no ${path}`);
  return found;
}

/** The text files of the layer whose path is wanted: path → text. What does not have its digest is not read. */
export async function readLayerTexts(
  files: Files,
  { release, digest }: CurrentRelease,
  isWanted: (path: string) => boolean,
): Promise<Readonly<Record<string, string>>> {
  const blob = async (named: string): Promise<Uint8Array> => {
    const sha256 = named.replace('sha256:', '');
    const content = await files.read(join(release.content, blobFolder, sha256));
    if (digestOf(content) === sha256) return content;
    throw releaseErrors.ENTRY_DAMAGED({ entry: 'release release', reason: `blob ${sha256} has another digest` });
  };
  const manifest = imageManifestSchema.parse(JSON.parse(Buffer.from(await blob(digest)).toString('utf8')));
  const layer = await blob(manifest.layers[0]?.digest ?? '');
  const entries = await unpackTar(layer, {
    strict: true,
    filter: ({ name, type }) => type === 'file' && isWanted(name),
  });
  return Object.fromEntries(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? '').toString('utf8')]));
}
