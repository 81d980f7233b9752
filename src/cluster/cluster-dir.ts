// The asset folder of a cluster as its commands use it: the lock and the option that names the folder.
// Other commands may read the assets meanwhile: the assets have their own lock, which is held only for moments.
import { join, relative } from 'node:path';
import { assetErrors } from '../assets/errors.ts';
import { openAssetFolder } from '../assets/folder.ts';
import { ownFolder } from '../contract/asset-folder.ts';
import type { FolderLock } from '../host/files.ts';
import type { Host } from '../host/host.ts';

/** One command at a time makes or destroys the cluster of a folder. */
export async function claimFolder(host: Host, dir: string, purpose: string): Promise<FolderLock> {
  // Refuses a folder that belongs to something else before anything is written to it.
  await (await openAssetFolder(host, dir, purpose))[Symbol.asyncDispose]();
  const lock = await host.files.lock(join(dir, ownFolder), purpose);
  if ('heldBy' in lock) throw assetErrors.BUSY({ dir, ...lock.heldBy });
  return lock;
}

const usualFolder = 'cluster';

/** ` --dir lab`, with its space, as a person types it from the working folder; empty for the usual folder. */
export function dirOption({ environment }: Pick<Host, 'environment'>, dir: string): string {
  const short = relative(environment.workingFolder, dir);
  if (short === usualFolder) return '';
  return ` --dir ${short === '' ? '.' : short.startsWith('..') ? dir : short}`;
}
