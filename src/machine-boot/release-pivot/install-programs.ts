// Brings the programs of a release onto this machine. Each file is observed first, by its digest: what is there already
// stays, so the next run continues one that was cut off. A file is verified before it replaces another.
import { createHash } from 'node:crypto';
import { dirname, posix } from 'node:path';
import { firstlightFolder, partPlaces, programFolder } from '../../contract/machine-paths.ts';
import type { Files } from '../../host/files.ts';
import type { ReleaseManifest } from '../../release/release-manifest.ts';
import { releasePivotErrors } from '../errors.ts';
import type { ImageStore } from './image-store.ts';

type Part = ReleaseManifest['parts'][number];

interface ProgramFile {
  /** Programs of upstream are in one folder of their image; Node and the bundle are where machines have them. */
  readonly inImage: string;
  readonly target: string;
  readonly sha256: string;
}

function programFiles({ name, files }: Part): readonly ProgramFile[] {
  const place = partPlaces[name];
  if (place === undefined) return [];
  const own = place.to.startsWith(firstlightFolder);
  const found = files.flatMap(({ path, sha256 }) => {
    if (!path.startsWith(`${place.from}/`)) return [];
    const below = path.slice(place.from.length + 1);
    const target = posix.join(place.to, below);
    return [{ inImage: own ? target : posix.join(programFolder, below), target, sha256 }];
  });
  // The bundle's first file names all others, so it is replaced when they are there.
  return found.toSorted(
    (a, b) => Number(a.target.endsWith('/firstlight.mjs')) - Number(b.target.endsWith('/firstlight.mjs')),
  );
}

export interface InstallInput {
  readonly files: Files;
  readonly store: ImageStore;
  readonly release: ReleaseManifest;
  /** Puts the image of a part into the store, where it is not there. */
  readonly bring: (image: ReleaseManifest['images'][number]) => Promise<void>;
  readonly log: (line: string) => void;
}

/** The parts whose programs were replaced. */
export async function installPrograms({ files, store, release, bring, log }: InstallInput): Promise<readonly string[]> {
  const replaced: string[] = [];
  // Our own program last: until then the one that runs can load the rest of itself.
  const parts = release.parts.toSorted((a, b) => Number(a.name === 'firstlight') - Number(b.name === 'firstlight'));
  for (const part of parts) {
    const wanted: ProgramFile[] = [];
    for (const file of programFiles(part)) {
      if ((await sha256Of(files, file.target)) !== file.sha256) wanted.push(file);
    }
    if (wanted.length === 0) continue;
    const image = release.images.find(({ name }) => name === part.name);
    if (image === undefined) throw releasePivotErrors.PART_MISSING({ part: part.name, release: release.version });
    log(`${part.name} ${part.version}: ${wanted.length} programs from ${image.reference}`);
    await bring(image);
    await store.withFiles(image.reference, async (root) => {
      for (const file of wanted) await install(files, root, file);
      await installLinks(files, root, part.name);
    });
    replaced.push(part.name);
  }
  return replaced;
}

async function install(files: Files, root: string, { inImage, target, sha256 }: ProgramFile): Promise<void> {
  const from = posix.join(root, inImage);
  const source = await files.facts(from);
  if (source?.kind !== 'file')
    throw releasePivotErrors.NOT_VERIFIED({ what: inImage, reason: 'its image has no such file' });
  const staged = `${target}.pivot`;
  const hash = createHash('sha256');
  const content = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of files.stream(from)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await files.makeFolder(dirname(target));
  await files.writeStream(staged, content(), { mode: source.mode, isDurable: false });
  const found = hash.digest('hex');
  if (found !== sha256) {
    await files.remove(staged);
    throw releasePivotErrors.NOT_VERIFIED({
      what: inImage,
      reason: `its digest is ${found}, the release says ${sha256}`,
    });
  }
  // A process that runs the old file keeps it.
  await files.rename(staged, target);
}

/** Further names of a program, as links beside it. */
async function installLinks(files: Files, root: string, part: string): Promise<void> {
  const place = partPlaces[part];
  if (place === undefined || place.to.startsWith(firstlightFolder)) return;
  for (const name of (await files.list(posix.join(root, programFolder))) ?? []) {
    const from = posix.join(root, programFolder, name);
    if ((await files.facts(from))?.kind !== 'link') continue;
    const to = await files.readLink(from);
    const target = posix.join(place.to, name);
    const there = (await files.facts(target))?.kind;
    // Where a machine has a script of that name, the script calls the program.
    if (to.includes('/') || (there !== undefined && there !== 'link')) continue;
    if (there === 'link' && (await files.readLink(target)) === to) continue;
    await files.remove(`${target}.pivot`);
    await files.symlink(to, `${target}.pivot`);
    await files.rename(`${target}.pivot`, target);
  }
}

async function sha256Of(files: Files, path: string): Promise<string | undefined> {
  if ((await files.facts(path))?.kind !== 'file') return undefined;
  const hash = createHash('sha256');
  for await (const chunk of files.stream(path)) hash.update(chunk);
  return hash.digest('hex');
}
