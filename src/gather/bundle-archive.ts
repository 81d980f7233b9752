// A bundle as a file: log-bundle-<id>.tar.gz with everything in one folder of that name. Written whole or not at all,
// for the owner alone, and never in the place of another one.
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Files } from '../host/files.ts';
import { gatherErrors } from './errors.ts';

const name = (id: string): string => `log-bundle-${id}`;
const bundleFile = /^log-bundle-(\d{14})\.tar\.gz$/;

const nameIn = (id: string): string => `${name(id)}.tar.gz`;

/** `20261116193000`: the time in UTC, to the second; a later second where a bundle has that one. */
export async function newBundleId(files: Files, dir: string, now: Date): Promise<string> {
  const present = (await files.list(dir)) ?? [];
  const id = now.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return present.includes(nameIn(id)) ? newBundleId(files, dir, new Date(now.getTime() + 1000)) : id;
}

export interface BundleTarget {
  readonly dir: string;
  readonly id: string;
  readonly now: Date;
}

/** The path of the new file. */
export async function writeLogBundle(
  files: Files,
  content: ReadonlyMap<string, string>,
  { dir, id, now }: BundleTarget,
): Promise<string> {
  const entries = [...content].map(([path, text]) => {
    const body = Buffer.from(text);
    return { header: { name: `${name(id)}/${path}`, size: body.length, mode: 0o600, mtime: now }, body };
  });
  const archive = await promisify(gzip)(await packTar(entries), { level: 4 });
  const unnamed = join(dir, `.${name(id)}.unfinished`);
  await files.write(unnamed, archive, { mode: 0o600 });
  try {
    const path = join(dir, nameIn(id));
    // A second name fails where the first is taken, a rename would not.
    await files.hardLink(unnamed, path);
    return path;
  } finally {
    await files.remove(unnamed);
  }
}

/** The newest bundle of the folder. */
export async function newestBundle(files: Files, dir: string): Promise<string> {
  const names = ((await files.list(dir)) ?? []).filter((one) => bundleFile.test(one));
  const newest = names.toSorted().at(-1);
  if (newest === undefined) throw gatherErrors.NO_BUNDLE({ dir });
  return join(dir, newest);
}

/** Path → text, without the folder that all of it lies in. */
export async function readLogBundle(files: Files, path: string): Promise<ReadonlyMap<string, string>> {
  try {
    const archive = await promisify(gunzip)(await files.read(path));
    const entries = (await unpackTar(archive)).filter(({ header }) => header.type !== 'directory');
    return new Map(
      entries.map(({ header, data }) => [
        header.name.slice(header.name.indexOf('/') + 1),
        Buffer.from(data ?? '').toString('utf8'),
      ]),
    );
  } catch (error) {
    if (error instanceof FirstlightError) throw error;
    throw gatherErrors.UNREADABLE({ path, reason: error instanceof Error ? error.message : String(error) });
  }
}
