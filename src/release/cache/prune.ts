// Limits the size of the cache: the newest entries of each name stay, and all that the current release or a running
// machine uses. Everything that is removed can be built again.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import { digestOfRecord } from '../../workflow/digest.ts';
import { type EntryId, entryKinds, type ReleaseCache } from './cache.ts';

const keptOfEach = 3;

/** Returns the removed paths. The caller must hold the lock of the cache. */
export async function prune(host: Host, cache: ReleaseCache, current: readonly EntryId[]): Promise<readonly string[]> {
  const used = new Set(current.map(({ kind, name, inputs }) => join(cache.folder, kind, name, digestOfRecord(inputs))));
  const removed: string[] = [];
  for (const kind of entryKinds) {
    for (const name of (await host.files.list(join(cache.folder, kind))) ?? []) {
      for (const old of await oldEntries(host, join(cache.folder, kind, name), used)) {
        if (await isMounted(host, old)) continue;
        await host.files.remove(old);
        removed.push(old);
      }
    }
  }
  return removed;
}

async function oldEntries(host: Host, folder: string, used: ReadonlySet<string>): Promise<readonly string[]> {
  const names = (await host.files.list(folder)) ?? [];
  if (names.length <= keptOfEach) return [];
  const dated = await Promise.all(
    names.map(async (name) => {
      const facts = await host.files.facts(join(folder, name, 'manifest.json'));
      return { path: join(folder, name), at: facts?.modifiedAt.getTime() ?? 0 };
    }),
  );
  const newest = dated.sort((a, b) => b.at - a.at);
  return newest.slice(keptOfEach).flatMap(({ path }) => (used.has(path) ? [] : [path]));
}

/** The root and the images of a machine are lower folders of overlays, maybe in another mount namespace. */
async function isMounted(host: Host, path: string): Promise<boolean> {
  for (const pid of (await host.files.list('/proc')) ?? []) {
    if (!/^\d+$/.test(pid)) continue;
    const mounts = await host.files.readIfPresent(`/proc/${pid}/mountinfo`).catch(() => undefined);
    if (mounts !== undefined && Buffer.from(mounts).toString('utf8').includes(path)) return true;
  }
  return false;
}
