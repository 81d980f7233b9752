// One command at a time makes or destroys the cluster of a folder. Others may still look at the assets meanwhile: their
// folder has a lock of its own, which is held for moments only.
import { join } from 'node:path';
import { assetErrors } from '../assets/errors.ts';
import { openAssetFolder } from '../assets/folder.ts';
import type { FolderLock } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { ownFolder } from '../contract/asset-folder.ts';

export async function claimFolder(host: Host, dir: string, purpose: string): Promise<FolderLock> {
  // Refuses a folder that belongs to something else before anything is written to it.
  await (await openAssetFolder(host, dir, purpose))[Symbol.asyncDispose]();
  const lock = await host.files.lock(join(dir, ownFolder), purpose);
  if ('heldBy' in lock) throw assetErrors.BUSY({ dir, ...lock.heldBy });
  return lock;
}
