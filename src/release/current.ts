// Which entries of the cache are the release in use: one small file, replaced atomically when a build is complete.
import { join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { type Cache, cacheFolder, type CacheEntry, type EntryId, entryKinds, openCache } from './cache/cache.ts';
import { releaseErrors } from './errors.ts';
import { readJsonFile } from './cache/json-file.ts';
import { type ReleaseManifest, releaseManifestSchema } from './release-manifest.ts';

const idSchema = z.object({ kind: z.enum(entryKinds), name: z.string(), inputs: z.record(z.string(), z.string()) });
const currentSchema = z.object({ format: z.literal(1), entries: z.array(idSchema) });

const fileName = 'current.json';

export async function writeCurrent(host: Host, entries: readonly CacheEntry[]): Promise<void> {
  const ids: EntryId[] = entries.map(({ manifest: { kind, name, inputs } }) => ({ kind, name, inputs }));
  const text = `${JSON.stringify({ format: 1, entries: ids }, null, 2)}\n`;
  const path = join(cacheFolder(host.environment), fileName);
  const before = await host.files.readIfPresent(path);
  if (before === undefined || Buffer.from(before).toString('utf8') !== text) await host.files.write(path, text);
}

export interface CurrentRelease {
  readonly cache: Cache;
  readonly manifest: ReleaseManifest;
  /** Of the release image's manifest; with `sha256:` in front it names the release. */
  readonly digest: string;
  readonly release: CacheEntry;
  readonly ids: readonly EntryId[];
}

/** The release that was built last; RELEASE_NOT_BUILT where there is none. */
export async function currentRelease(host: Host): Promise<CurrentRelease> {
  const cache = openCache(host);
  const ids = await currentIds(host, cache.folder);
  const id = ids.find(({ kind }) => kind === 'release');
  if (id === undefined) throw releaseErrors.NOT_BUILT({ folder: cache.folder });
  const release = await currentEntry(cache, id);
  const manifest = releaseManifestSchema.parse(release.manifest.facts['manifest']);
  const { digest } = z.object({ digest: z.string() }).parse(release.manifest.facts['image']);
  return { cache, manifest, digest, release, ids };
}

async function currentIds(host: Host, folder: string): Promise<readonly EntryId[]> {
  const current = await readJsonFile(host.files, join(folder, fileName), currentSchema);
  if (current === undefined) throw releaseErrors.NOT_BUILT({ folder });
  return current.entries;
}

/** An entry of the current release, after the quick look; damage is named. */
export async function currentEntry(cache: Cache, id: EntryId): Promise<CacheEntry> {
  const seen = await cache.look(id);
  if (seen.status === 'present') return seen.entry;
  const reason = seen.status === 'damaged' ? seen.reason : 'it is gone';
  throw releaseErrors.ENTRY_DAMAGED({ entry: `${id.kind} ${id.name}`, reason });
}
