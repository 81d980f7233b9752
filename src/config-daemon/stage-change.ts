// The first half of a change, in which nothing of the machine's config changes: folders, originals, and beside each
// path the new contents and a second name of the old ones. Whatever needs space on the disk happens here.
import { posix } from 'node:path';
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { appliedConfigMode, appliedConfigText } from './applied-config.ts';
import type { ChangeRecord, PathStep } from './change-record.ts';
import { originalPath, saveOriginal, saveUnitStates } from './originals.ts';
import { makeManagedUser, type OwnerOf, readOwners } from './owners.ts';
import { setRights } from './put-in-place.ts';
import { keptPath, setAsidePath, stagedPath } from './siblings.ts';
import type { ApplyRequest } from './survey-change.ts';
import type { WantedNode } from './wanted-state.ts';

export async function stageChange(host: Host, record: ChangeRecord, { to, plan }: ApplyRequest): Promise<void> {
  const { files } = host;
  if (record.makesUser) await makeManagedUser(host);
  const ownerOf = await readOwners(host);
  for (const path of record.newOriginals) await saveOriginal(files, path, { isDurable: true });
  await saveUnitStates(host, record.newUnitStates);
  for (const folder of record.madeFolders) {
    await files.makeFolder(folder.path, { mode: folder.mode });
    await setRights(files, folder.path, { mode: folder.mode, ...ownerOf(folder) });
  }
  for (const path of record.foreign ?? []) await copySetAside(files, path);
  const wanted = new Map([...plan.put, ...(plan.beside ?? [])].map((node) => [node.path, node]));
  for (const step of record.paths) {
    await stagePath(files, step, { node: wanted.get(step.path), ownerOf }).catch((error: unknown) => {
      // The failure names the dot file beside it, which a person does not know.
      throw new Error(`${step.path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    });
  }
  await files.makeFolder(posix.dirname(daemonFiles.currentConfig));
  const staged = stagedPath(daemonFiles.currentConfig);
  await files.write(staged, appliedConfigText(to), { mode: appliedConfigMode });
}

interface Staged {
  /** Undefined where the new contents are the original. */
  readonly node: WantedNode | undefined;
  readonly ownerOf: OwnerOf;
}

async function stagePath(files: Files, step: PathStep, { node, ownerOf }: Staged): Promise<void> {
  const { path, kind, hadOld, isOriginal } = step;
  for (const leftover of [keptPath(path), stagedPath(path)]) await files.remove(leftover);
  if (hadOld) await files.hardLink(path, keptPath(path));
  if (kind === 'drop') return;
  if (isOriginal) return copyOriginal(files, path);
  if (node?.kind === 'link') {
    await files.symlink(node.target, stagedPath(path));
    return files.setOwner(stagedPath(path), ownerOf(node));
  }
  if (node?.kind !== 'file' || !('bytes' in node.contents)) throw new Error(`${path} cannot be staged`);
  await files.write(stagedPath(path), node.contents.bytes, { mode: node.mode, ...ownerOf(node) });
}

async function copySetAside(files: Files, path: string): Promise<void> {
  const copy = setAsidePath(path);
  await files.makeFolder(posix.dirname(daemonFiles.setAside));
  await files.makeFolder(posix.dirname(copy), { mode: 0o700 });
  await files.remove(copy);
  if ((await files.facts(path))?.kind === 'link') return files.symlink(await files.readLink(path), copy);
  await files.write(copy, await files.read(path), { mode: 0o600 });
}

async function copyOriginal(files: Files, path: string): Promise<void> {
  const original = originalPath(path);
  const facts = await files.facts(original);
  if (facts === undefined) throw new Error(`${original} is gone`);
  if (facts.kind === 'link') return files.symlink(await files.readLink(original), stagedPath(path));
  const { mode, uid, gid } = facts;
  await files.write(stagedPath(path), await files.read(original), { mode, uid, gid });
}
