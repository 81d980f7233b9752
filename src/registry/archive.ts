// Images in an archive: an OCI layout (a tar file or a folder), or what `docker save` and `podman save` write. Every
// blob is hashed before it is believed, and no name in a tar file is a path on the disk.
import { join, posix } from 'node:path';
import { createTarDecoder } from 'modern-tar';
import type { Files } from '../host/files.ts';
import { type ArchivedImage, type ArchiveFiles, UnusableArchive } from './archived-image.ts';
import { dockerImages } from './docker-archive.ts';
import { registryErrors } from './errors.ts';
import { layoutImages } from './oci-archive.ts';

/** `scratch`: a folder for what a tar file holds, until the images are pushed. */
export async function readArchive(files: Files, path: string, scratch: string): Promise<readonly ArchivedImage[]> {
  try {
    const archive = await openArchive(files, path, scratch);
    if ((await archive.pathOf('index.json')) !== undefined) return await layoutImages(archive);
    if ((await archive.pathOf('manifest.json')) !== undefined) return await dockerImages(archive);
    throw new UnusableArchive('it has neither an index.json nor a manifest.json');
  } catch (error) {
    if (!(error instanceof UnusableArchive)) throw error;
    throw registryErrors.ARCHIVE({ path, reason: error.message }, { cause: error });
  }
}

async function openArchive(files: Files, path: string, scratch: string): Promise<ArchiveFiles> {
  const kind = (await files.facts(await files.realPath(path).catch(() => path)))?.kind;
  if (kind === undefined) throw new UnusableArchive('there is no such file');
  if (kind === 'folder') return { files, pathOf: (name) => inFolder(files, path, name) };
  const names = await unpack(files, path, scratch).catch((error: unknown) => {
    throw new UnusableArchive(`it is no tar file: ${error instanceof Error ? error.message : String(error)}`);
  });
  return { files, pathOf: async (name) => names.get(posix.normalize(name)) };
}

async function inFolder(files: Files, folder: string, name: string): Promise<string | undefined> {
  const inner = posix.normalize(name);
  if (inner.startsWith('..') || posix.isAbsolute(inner)) return undefined;
  const path = join(folder, inner);
  return (await files.facts(path))?.kind === 'file' ? path : undefined;
}

/** Name in the archive → file in `scratch`, whose name is a number. A link stands for the file that it names. */
async function unpack(files: Files, path: string, scratch: string): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const links: (readonly [string, string])[] = [];
  const archive = ReadableStream.from(files.stream(path)) as ReadableStream<Uint8Array<ArrayBuffer>>;
  for await (const { header, body } of archive.pipeThrough(createTarDecoder({ strict: true }))) {
    const name = posix.normalize(header.name);
    if (header.type === 'file') {
      const to = join(scratch, String(names.size));
      await files.writeStream(to, body, { isDurable: false });
      names.set(name, to);
      continue;
    }
    const target = header.linkname ?? '';
    if (header.type === 'symlink') links.push([name, posix.join(posix.dirname(name), target)]);
    if (header.type === 'link') links.push([name, posix.normalize(target)]);
    await body.cancel();
  }
  for (const [name, target] of links) {
    const found = names.get(target);
    if (found !== undefined) names.set(name, found);
  }
  return names;
}
