// The second half of a change: renames, and what systemd and the password file are told. Nothing here needs more space
// than a link, and every step can be taken back (take-back.ts).
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { ChangeRecord, FolderRights } from './change-record.ts';
import { setPasswordHash } from './owners.ts';
import { stagedPath } from './siblings.ts';
import { disableUnits, enableUnits, reloadUnitFiles } from './unit-states.ts';

export async function putInPlace(host: Host, record: ChangeRecord): Promise<void> {
  const { files } = host;
  const { units, paths, folders, password, needsReload } = record;
  // A unit that gets another file loses its links while systemd still finds the file that they were made from.
  const ending = units.filter(({ wasEnabled, isEnabled, isReplaced }) => wasEnabled && (isReplaced || !isEnabled));
  await disableUnits(host, unitNamesOf(ending));
  for (const { path, after } of folders) await setRights(files, path, after);
  for (const { path, kind } of paths) {
    if (kind === 'drop') await files.remove(path);
    else await files.rename(stagedPath(path), path);
  }
  if (password !== undefined) await setPasswordHash(host, password.after);
  if (needsReload) await reloadUnitFiles(host);
  const starting = units.filter(({ wasEnabled, isEnabled, isReplaced }) => isEnabled && (isReplaced || !wasEnabled));
  await enableUnits(host, unitNamesOf(starting));
}

export function unitNamesOf(units: readonly { readonly name: string }[]): readonly string[] {
  return units.map(({ name }) => name);
}

/** In this order: a new owner takes the special bits of the mode away. */
export async function setRights(files: Files, path: string, { mode, uid, gid }: FolderRights): Promise<void> {
  await files.setOwner(path, { uid, gid });
  await files.setMode(path, mode);
}
