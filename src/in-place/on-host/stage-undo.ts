// What was on the machine before a stage of a payload: files, links, rights and the enablement of units. It is kept
// before the stage begins and put back when it fails. Both may be cut off anywhere and repeated. Packages are not put
// back: they are the distribution's own updates, and the message of a failed stage says so.
import { posix } from 'node:path';
import { z } from 'zod';
import { foldersAbove } from '../../config-daemon/originals.ts';
import {
  disableUnits,
  enableUnits,
  isEnabledState,
  reloadUnitFiles,
  unitStates,
} from '../../config-daemon/unit-states.ts';
import type { Files } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import { payloadErrors } from '../payload/errors.ts';
import type { StageTouches, TouchedPath } from '../payload/payload-manifest.ts';

const rights = { mode: z.int(), uid: z.int(), gid: z.int() };
const keptPath = z.discriminatedUnion('was', [
  z.object({ was: z.literal('nothing'), path: z.string() }),
  z.object({ was: z.literal('file'), path: z.string(), copy: z.string(), ...rights }),
  z.object({ was: z.literal('link'), path: z.string(), target: z.string() }),
  z.object({ was: z.literal('rights'), path: z.string(), ...rights }),
]);
type KeptPath = z.infer<typeof keptPath>;

const recordSchema = z.object({
  paths: z.array(keptPath),
  /** Folders that did not exist, from the outermost on. */
  missingFolders: z.array(z.string()),
  enabledUnits: z.array(z.string()),
  units: z.array(z.string()),
});
type UndoRecord = z.infer<typeof recordSchema>;

const recordFile = 'record.json';

/** Does nothing when the record exists: then the stage may have begun, and what is there now is not what was. */
export async function keepBefore(host: Host, folder: string, touches: StageTouches): Promise<void> {
  const { files } = host;
  if ((await files.facts(posix.join(folder, recordFile))) !== undefined) return;
  await files.makeFolder(folder, { mode: 0o700 });
  const paths: KeptPath[] = [];
  for (const [index, touched] of touches.paths.entries()) {
    paths.push(await keepPath(files, touched, posix.join(folder, String(index))));
  }
  const units = [...new Set(touches.units)];
  const states = await unitStates(host, units);
  const record: UndoRecord = {
    paths,
    missingFolders: await missingFolders(files, touches.paths),
    units,
    enabledUnits: units.filter((name) => isEnabledState(states.get(name))),
  };
  await files.write(posix.join(folder, recordFile), JSON.stringify(record), { mode: 0o600 });
}

async function keepPath(files: Files, { path, what }: TouchedPath, copy: string): Promise<KeptPath> {
  const facts = await files.facts(path);
  if (facts === undefined) return { was: 'nothing', path };
  const { mode, uid, gid } = facts;
  if (what === 'rights') return { was: 'rights', path, mode, uid, gid };
  if (facts.kind === 'link') return { was: 'link', path, target: await files.readLink(path) };
  if (facts.kind !== 'file') throw payloadErrors.IN_THE_WAY({ path, found: facts.kind });
  await files.write(copy, await files.read(path), { mode: 0o600 });
  return { was: 'file', path, copy, mode, uid, gid };
}

async function missingFolders(files: Files, touched: readonly TouchedPath[]): Promise<string[]> {
  const missing = new Set<string>();
  for (const { path } of touched) {
    for (const folder of foldersAbove(path)) {
      if (missing.has(folder) || (await files.facts(folder)) !== undefined) break;
      missing.add(folder);
    }
  }
  return [...missing].toSorted((one, other) => one.length - other.length);
}

/** Nothing is done where nothing was kept. The record goes when all is put back, so that a repetition finds it. */
export async function putBack(host: Host, folder: string): Promise<void> {
  const { files } = host;
  const content = await files.readIfPresent(posix.join(folder, recordFile));
  if (content === undefined) return;
  const record = recordSchema.parse(JSON.parse(Buffer.from(content).toString('utf8')));
  // As long as systemd finds the files of the units whose links are removed.
  const states = await unitStates(host, record.units);
  const isNewlyEnabled = (name: string): boolean =>
    isEnabledState(states.get(name)) && !record.enabledUnits.includes(name);
  await disableUnits(host, record.units.filter(isNewlyEnabled));
  for (const kept of record.paths.toReversed()) await putPathBack(files, kept);
  for (const missing of record.missingFolders.toReversed()) await removeIfEmpty(files, missing);
  await reloadUnitFiles(host);
  await enableUnits(host, record.enabledUnits);
  await files.remove(posix.join(folder, recordFile));
  await files.remove(folder);
}

async function putPathBack(files: Files, kept: KeptPath): Promise<void> {
  const { path } = kept;
  if (kept.was === 'nothing') {
    const isFolder = (await files.facts(path))?.kind === 'folder';
    return isFolder ? removeIfEmpty(files, path) : files.remove(path);
  }
  if (kept.was === 'rights') {
    if ((await files.facts(path)) === undefined) return;
    await files.setMode(path, kept.mode);
    return files.setOwner(path, kept);
  }
  if (kept.was === 'link') {
    await files.remove(path);
    return files.symlink(kept.target, path);
  }
  const { mode, uid, gid } = kept;
  await files.makeFolder(posix.dirname(path));
  await files.write(path, await files.read(kept.copy), { mode, uid, gid });
}

/** A folder that holds something of somebody else stays. */
async function removeIfEmpty(files: Files, path: string): Promise<void> {
  if ((await files.facts(path))?.kind === 'folder') await files.removeEmptyFolder(path);
}
