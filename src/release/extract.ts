// Extracts one component of the release: a part as its files, an image (or the whole release) as an OCI archive, the
// bill of materials as JSON. All its digests are checked before anything is written.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import type { CacheEntry, EntryId } from './cache/cache.ts';
import type { TreeItem } from './cache/tree.ts';
import { currentEntry, currentRelease, readLayerText } from './current.ts';
import { releaseErrors } from './errors.ts';
import { writeArchive } from './images/oci-archive.ts';
import { sbomPath } from './release-recipe.ts';

export interface Extracted {
  readonly component: string;
  readonly files: readonly string[];
}

export async function extractComponent(host: Host, component: string, to: string): Promise<Extracted> {
  const current = await currentRelease(host);
  await host.files.makeFolder(to);
  if (component === 'sbom') {
    const path = join(to, 'sbom.cdx.json');
    await host.files.write(path, await readLayerText(host.files, current, sbomPath));
    return { component, files: [path] };
  }
  const id = current.ids.find((candidate) => componentName(candidate) === component);
  if (id === undefined) {
    const known = [...current.ids.map(componentName).filter((name) => name !== undefined), 'sbom'];
    throw releaseErrors.UNKNOWN_NAME({ what: 'component', name: component, known });
  }
  const entry = await currentEntry(current.cache, id);
  const reason = await current.cache.verify(entry);
  if (reason !== undefined) throw releaseErrors.ENTRY_DAMAGED({ entry: `${id.kind} ${id.name}`, reason });
  if (id.kind === 'part')
    return { component, files: await copyPart(host, await current.cache.listing(entry), { entry, to }) };
  const path = join(to, `${component}.tar`);
  await writeArchive(host.files, entry.content, path);
  return { component, files: [path] };
}

/** Images have the suffix `-image`, so that both the part etcd and the image etcd have a name. */
function componentName({ kind, name }: EntryId): string | undefined {
  if (kind === 'part' || kind === 'release') return name;
  return kind === 'image' ? `${name}-image` : undefined;
}

async function copyPart(
  { files }: Host,
  items: readonly TreeItem[],
  { entry, to }: { readonly entry: CacheEntry; readonly to: string },
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const item of items) {
    // Leave out `bin/` and `lib/`, which only order the content of a part in the cache.
    const target = join(to, item.path.split('/').slice(1).join('/'));
    if (item.kind === 'folder') await files.makeFolder(target);
    else if (item.kind === 'link') {
      await files.remove(target);
      await files.symlink(item.target ?? '', target);
    } else await files.writeStream(target, files.stream(join(entry.content, item.path)), { mode: item.mode });
    if (item.kind !== 'folder') written.push(target);
  }
  return written;
}
