// Extracts one component of the release: a part as its files, an image (or the whole release) as an OCI archive, the
// manifests that it brings into a cluster, the bill of materials. Digests are checked before anything is written.
import { basename, join } from 'node:path';
import { payloadFiles } from '../contract/cluster-version.ts';
import type { Host } from '../host/host.ts';
import type { CacheEntry, EntryId } from './cache/cache.ts';
import type { TreeItem } from './cache/tree.ts';
import { type CurrentRelease, currentEntry, currentRelease, readLayerText, readLayerTexts } from './current.ts';
import { releaseErrors } from './errors.ts';
import { writeArchive } from './images/oci-archive.ts';
import { manifestPath, sbomPath } from './release-recipe.ts';

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
  if (component === 'manifests') return { component, files: await writeManifests(host, current, to) };
  const id = current.ids.find((candidate) => componentName(candidate) === component);
  if (id === undefined) {
    const known = [...current.ids.map(componentName).filter((name) => name !== undefined), 'manifests', 'sbom'];
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

/** As the version operator reads them: places such as `{{DNS_ADDRESS}}` are filled in the cluster. */
async function writeManifests({ files }: Host, current: CurrentRelease, to: string): Promise<readonly string[]> {
  const others = [manifestPath, sbomPath];
  const isPayload = (path: string): boolean => path.startsWith(`${payloadFiles.folder}/`) && !others.includes(path);
  const written: string[] = [];
  for (const [path, text] of Object.entries(await readLayerTexts(files, current, isPayload))) {
    const target = join(to, basename(path));
    await files.write(target, text);
    written.push(target);
  }
  return written;
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
