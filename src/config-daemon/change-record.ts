// The record of a change on the disk: one file whose name is its phase, so that going to another phase is a rename,
// which needs no space and is whole or not there. It says what was on the machine before and what the change does.
import { posix } from 'node:path';
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { AppliedConfig } from './applied-config.ts';
import type { WantedOwner } from './wanted-state.ts';

/**
 * `staging`, `prepared`: nothing may be relied on yet; recovery undoes it. `applied`: everything is on the disk, and
 * the old files are kept: it waits for `finishChange` or `undoChange`. `finishing`, `undoing`: decided, and carried to
 * its end by recovery. `undone`: the old files are back; what has been restarted for the new ones must be again.
 */
export const changePhases = ['staging', 'prepared', 'applied', 'finishing', 'undoing', 'undone'] as const;
export type ChangePhase = (typeof changePhases)[number];

/** A file or link that is replaced or goes. What was there is kept beside it, under `keptPath`. */
export interface PathStep {
  readonly path: string;
  readonly kind: 'put' | 'drop';
  /** Whether there was something before. */
  readonly hadOld: boolean;
  /** The new contents are the original of the path. */
  readonly isOriginal: boolean;
}

/** A folder that exists and gets another mode or owner. */
export interface FolderStep {
  readonly path: string;
  readonly before: FolderRights;
  readonly after: FolderRights;
}

export interface FolderRights {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

export interface MadeFolder {
  readonly path: string;
  readonly mode: number;
  readonly owner: WantedOwner;
}

export interface UnitStep {
  readonly name: string;
  readonly wasEnabled: boolean;
  readonly isEnabled: boolean;
  /** Its file changes, and with it perhaps what enabling it means. */
  readonly isReplaced: boolean;
}

export interface ChangeRecord {
  readonly from: string | undefined;
  readonly to: AppliedConfig;
  readonly bootId: string;
  readonly startedAt: string;
  readonly paths: readonly PathStep[];
  readonly madeFolders: readonly MadeFolder[];
  readonly folders: readonly FolderStep[];
  /** Paths that no config has any more. */
  readonly leave: readonly string[];
  readonly units: readonly UnitStep[];
  /** Paths whose original or stamp is made by this change. */
  readonly newOriginals: readonly string[];
  /** Units of the operating system that a config names for the first time, and whether they were enabled. */
  readonly newUnitStates: Readonly<Record<string, boolean>>;
  readonly password?: { readonly before: string; readonly after: string };
  readonly makesUser: boolean;
  /** Files that no config wrote, each with a copy in the folder `setAside`. */
  readonly foreign?: readonly string[];
  /** systemd has to read its unit files again. */
  readonly needsReload: boolean;
}

export interface FoundRecord {
  readonly phase: ChangePhase;
  readonly record: ChangeRecord;
}

function recordPath(phase: ChangePhase): string {
  return `${daemonFiles.stateFolder}/${phase}.json`;
}

export async function findRecord({ files }: Host): Promise<FoundRecord | undefined> {
  const names = (await files.list(daemonFiles.stateFolder)) ?? [];
  for (const phase of changePhases.filter((name) => names.includes(`${name}.json`))) {
    return { phase, record: JSON.parse(await files.readText(recordPath(phase))) as ChangeRecord };
  }
  return undefined;
}

/** The first phase of a change. It has the config's secrets in it. */
export async function writeRecord({ files }: Host, record: ChangeRecord): Promise<void> {
  await makeStateFolder(files);
  await files.write(recordPath('staging'), JSON.stringify(record), { mode: 0o600 });
}

export async function moveRecord({ files }: Host, from: ChangePhase, to: ChangePhase): Promise<void> {
  await files.rename(recordPath(from), recordPath(to), { isDurable: true });
}

export async function removeRecord({ files }: Host, phase: ChangePhase): Promise<void> {
  await files.remove(recordPath(phase));
}

/** Its own mode is for root alone; the folders above it belong to others too. */
export async function makeStateFolder(files: Files): Promise<void> {
  await files.makeFolder(posix.dirname(daemonFiles.stateFolder));
  await files.makeFolder(daemonFiles.stateFolder, { mode: 0o700 });
}
