// The end of a change that is kept: the name of the config that the machine has, and the removal of everything that
// was kept for an undo, of originals that came back, and of folders that nothing is in any more.
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { ChangeRecord } from './change-record.ts';
import { foldersAbove, forgetUnitState, removeOriginal, wasNothing } from './originals.ts';
import { keptPath, stagedPath } from './siblings.ts';
import { type WantedState, wantedState } from './wanted-state.ts';

export async function clearAfterChange(host: Host, record: ChangeRecord): Promise<void> {
  const { files } = host;
  const staged = stagedPath(daemonFiles.currentConfig);
  if ((await files.facts(staged)) !== undefined) {
    await files.rename(staged, daemonFiles.currentConfig, { isDurable: true });
  }
  for (const { path } of record.paths) {
    await files.remove(keptPath(path));
    await files.remove(stagedPath(path));
  }
  const wanted = wantedState(record.to.spec);
  // What is inside comes before what it is in.
  for (const path of record.leave.toReversed()) await leavePath(files, path, wanted);
  for (const { name } of record.units) {
    if (!wanted.units.has(name)) await forgetUnitState(host, name);
  }
}

async function leavePath(files: Files, path: string, wanted: WantedState): Promise<void> {
  const isOurs = await wasNothing(files, path);
  const facts = await files.facts(path);
  if (facts?.kind === 'folder' && isOurs) await files.removeEmptyFolder(path);
  await removeOriginal(files, path);
  for (const folder of foldersAbove(path)) {
    const isWanted = [...wanted.nodes.keys()].some((other) => other === folder || other.startsWith(`${folder}/`));
    if (isWanted || !(await wasNothing(files, folder))) break;
    await files.removeEmptyFolder(folder);
    await removeOriginal(files, folder);
  }
}
