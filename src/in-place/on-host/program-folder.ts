// A copy of this program that needs nothing of the machine it is on: Node, the bundle, and, where it comes from an
// image, the libraries and the loader of that image. The pod brings one for the unit, the unit takes one from the
// release that the new configuration names, and the workstation sends one by SSH.
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { programLauncher } from '../../contract/in-place.ts';
import { firstlightFolder } from '../../contract/machine-paths.ts';
import { libraryPlace, programLibraries } from '../../contract/program-libraries.ts';
import type { Files } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import { inPlaceErrors } from '../errors.ts';

const flushLimitMs = 120_000;

const parts = { node: 'bin/node', bundle: 'dist', libraries: 'lib' } as const;

/**
 * Copies the program of an image whose root is at `root` into `folder`, durably, and returns the SHA-256 of every file
 * by its path in the folder. A folder that was half copied is made anew.
 */
export async function copyProgram(
  host: Host,
  { root, folder }: { readonly root: string; readonly folder: string },
): Promise<Readonly<Record<string, string>>> {
  const { files } = host;
  await files.remove(folder);
  await files.makeFolder(folder, { mode: 0o700 });
  const source = posix.join(root, firstlightFolder);
  const bundle = await filesBelow(files, posix.join(source, parts.bundle));
  const { folder: place, loader } = libraryPlace(host.environment.architecture);
  const hasLoader = (await files.facts(posix.join(root, place, loader))) !== undefined;
  const copies = [
    { from: posix.join(source, parts.node), to: parts.node, mode: 0o755 },
    // Maps are for people who debug; they are half of the files.
    ...bundle
      .map((path) => posix.join(parts.bundle, path))
      .filter((path) => !path.endsWith('.map'))
      .map((path) => ({ from: posix.join(source, path), to: path, mode: 0o644 })),
    ...(await Promise.all(
      (hasLoader ? [...programLibraries, loader] : []).map(async (name) => ({
        // Without links: each would be resolved in the root of the machine, and not of the image.
        from: await inRoot(files, root, posix.join(place, name)),
        to: posix.join(parts.libraries, name),
        mode: 0o755,
      })),
    )),
  ];
  for (const path of new Set(copies.map(({ to }) => posix.dirname(to)))) {
    await files.makeFolder(posix.join(folder, path), { mode: 0o700 });
  }
  const digests = await Promise.all(
    copies.map(async ({ from, to, mode }) => {
      return [to, await copyFile(files, { from, to: posix.join(folder, to), mode })] as const;
    }),
  );
  await flush(host, folder);
  const script = launcherText(folder, hasLoader ? loader : undefined);
  await files.write(posix.join(folder, programLauncher), script, { mode: 0o755 });
  return Object.fromEntries([...digests, [programLauncher, createHash('sha256').update(script).digest('hex')]]);
}

/** One call for hundreds of files: each alone would wait for the disk. */
async function flush({ processes }: Host, folder: string): Promise<void> {
  const { code, stderr } = await processes.run('sync', ['--file-system', folder], { timeoutMs: flushLimitMs });
  if (code !== 0) throw inPlaceErrors.NOT_FLUSHED({ folder, reason: stderr.trim() });
}

/** Without a loader the libraries of the machine are used. */
function launcherText(folder: string, loader: string | undefined): string {
  const at = (path: string): string => `'${posix.join(folder, path)}'`;
  const start =
    loader === undefined ? '' : `${at(`${parts.libraries}/${loader}`)} --library-path ${at(parts.libraries)} `;
  return `#!/bin/sh\nexec ${start}${at(parts.node)} ${at(`${parts.bundle}/firstlight.mjs`)} "$@"\n`;
}

/** Whether a program folder is whole: the launcher is written last. */
export async function hasProgram({ files }: Host, folder: string): Promise<boolean> {
  return (await files.facts(posix.join(folder, programLauncher))) !== undefined;
}

async function copyFile(
  files: Files,
  { from, to, mode }: { readonly from: string; readonly to: string; readonly mode: number },
): Promise<string> {
  const digest = createHash('sha256');
  const content = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of files.stream(from)) {
      digest.update(chunk);
      yield chunk;
    }
  };
  if ((await files.facts(from))?.kind !== 'file') throw inPlaceErrors.NO_PROGRAM({ path: from });
  await files.writeStream(to, content(), { mode, isDurable: false });
  return digest.digest('hex');
}

/** Follows links as a process with that root would. */
async function inRoot(files: Files, root: string, path: string, left = 10): Promise<string> {
  const at = posix.join(root, path);
  if (left === 0 || (await files.facts(at))?.kind !== 'link') return at;
  return inRoot(files, root, posix.resolve(posix.dirname(path), await files.readLink(at)), left - 1);
}

/** Paths of the files below a folder, relative to it. */
async function filesBelow(files: Files, folder: string, below = ''): Promise<readonly string[]> {
  const names = (await files.list(posix.join(folder, below))) ?? [];
  const lists = names.map(async (name) => {
    const path = posix.join(below, name);
    const isFolder = (await files.facts(posix.join(folder, path)))?.kind === 'folder';
    return isFolder ? filesBelow(files, folder, path) : [path];
  });
  return (await Promise.all(lists)).flat();
}
