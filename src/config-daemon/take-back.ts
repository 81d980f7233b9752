// A change taken back, from wherever it was: every step may have happened, or not, or half, and may be taken back a
// second time. It needs no space on the disk: the old files still have a name beside their path.
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { ChangeRecord, FoundRecord, PathStep } from './change-record.ts';
import { foldersAbove, forgetUnitState, removeOriginal } from './originals.ts';
import { hasManagedUser, readPasswordHash, removeManagedUser, setPasswordHash } from './owners.ts';
import { setRights, unitNamesOf } from './put-in-place.ts';
import { keptPath, setAsidePath, stagedPath } from './siblings.ts';
import { disableUnits, enableUnits, isEnabledState, reloadUnitFiles, unitStates } from './unit-states.ts';

export async function takeBack(host: Host, { phase, record }: FoundRecord): Promise<void> {
  const { files } = host;
  if (phase === 'staging') {
    for (const { path } of record.paths) await removeSiblings(files, path);
  } else {
    await takeUnitsBack(host, record, () => takePathsBack(host, record));
  }
  await removeTraces(host, record);
}

/** As in the change: links of units are made and removed while systemd finds the files that they belong to. */
async function takeUnitsBack(
  host: Host,
  { units, needsReload }: ChangeRecord,
  between: () => Promise<void>,
): Promise<void> {
  const states = await unitStates(host, unitNamesOf(units));
  const ending = units.filter(({ name, wasEnabled, isReplaced }) => {
    return isEnabledState(states.get(name)) && (isReplaced || !wasEnabled);
  });
  await disableUnits(host, unitNamesOf(ending));
  await between();
  if (needsReload) await reloadUnitFiles(host);
  await enableUnits(host, unitNamesOf(units.filter(({ wasEnabled }) => wasEnabled)));
}

async function takePathsBack(host: Host, { paths, folders, password }: ChangeRecord): Promise<void> {
  const { files } = host;
  for (const step of paths.toReversed()) await takePathBack(files, step);
  for (const { path, before } of folders.toReversed()) await setRights(files, path, before);
  if (password !== undefined && (await readPasswordHash(host)) !== password.before) {
    await setPasswordHash(host, password.before);
  }
}

async function takePathBack(files: Files, { path, hadOld }: PathStep): Promise<void> {
  const [kept, staged] = [keptPath(path), stagedPath(path)];
  if (hadOld) {
    const old = await files.facts(kept);
    // While both are names of one file, a rename would leave both.
    if (old !== undefined && old.identity !== (await files.facts(path))?.identity) await files.rename(kept, path);
  } else if ((await files.facts(staged)) === undefined) {
    // The new contents are not staged any more, so they are at the path, where nothing was before.
    await files.remove(path);
  }
  await removeSiblings(files, path);
}

async function removeSiblings(files: Files, path: string): Promise<void> {
  await files.remove(keptPath(path));
  await files.remove(stagedPath(path));
}

async function removeSetAside(files: Files, path: string): Promise<void> {
  await files.remove(setAsidePath(path));
  for (const folder of foldersAbove(setAsidePath(path))) {
    if (!folder.startsWith(daemonFiles.setAside) || !(await files.removeEmptyFolder(folder))) break;
  }
}

/** What staging made beside the config. */
async function removeTraces(host: Host, record: ChangeRecord): Promise<void> {
  const { files } = host;
  await files.remove(stagedPath(daemonFiles.currentConfig));
  for (const { path } of record.madeFolders.toReversed()) await files.removeEmptyFolder(path);
  for (const path of record.newOriginals) await removeOriginal(files, path);
  for (const path of record.foreign ?? []) await removeSetAside(files, path);
  for (const name of Object.keys(record.newUnitStates)) await forgetUnitState(host, name);
  if (record.makesUser && (await hasManagedUser(host))) await removeManagedUser(host);
}
