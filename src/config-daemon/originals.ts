// What was at a path before the first config wrote there: a copy of the file, link or folder of the operating system,
// or a stamp that says that nothing was there. When the path leaves the config, the copy comes back, or the path goes.
// An original is never overwritten. Units that the operating system brings have the enablement they had.
import { posix } from 'node:path';
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { readInlineContents } from '../ignition/inline-contents.ts';
import type { MachineConfig, MachineConfigSpec } from '../machine-config/machine-config.ts';
import { makeStateFolder } from './change-record.ts';
import { isEnabledState, unitStates } from './unit-states.ts';
import { type WantedState, wantedState } from './wanted-state.ts';

export function originalPath(path: string): string {
  return `${daemonFiles.originals}${path}.mcdorig`;
}

function stampPath(path: string): string {
  return `${daemonFiles.noOriginals}${path}.mcdnoorig`;
}

/** For first boot, with the config that Ignition has fetched and not applied yet; also with one of no config server. */
export async function saveServedOriginals(host: Host, fetched: IgnitionConfig): Promise<void> {
  const file = fetched.storage?.files?.find(({ path }) => path === daemonFiles.servedMachineConfig);
  const served = file === undefined ? undefined : readInlineContents(file.contents ?? {});
  if (served?.status !== 'inline') return;
  // Not judged here: Ignition itself is about to judge what it is made of.
  const { spec } = (jsonIfValid(served.bytes) ?? {}) as Partial<Pick<MachineConfig, 'spec'>>;
  if (spec !== undefined) await saveOriginals(host, spec);
}

async function saveOriginals(host: Host, spec: Pick<MachineConfigSpec, 'config'>): Promise<void> {
  const wanted = wantedState(spec);
  const missing = await missingOriginals(host.files, [...wanted.nodes.keys()]);
  // A power failure now means that the first boot begins again, on a machine on which nothing was written.
  for (const path of missing) await saveOriginal(host.files, path, { isDurable: false });
  await saveUnitStates(host, await foreignUnitStates(host, wanted));
}

/** The paths, and the folders above them that are to be made, of which there is no original yet. */
export async function missingOriginals(files: Files, paths: readonly string[]): Promise<readonly string[]> {
  const missing = new Set<string>();
  for (const path of paths) {
    if (await hasOriginal(files, path)) continue;
    missing.add(path);
    for (const folder of foldersAbove(path)) {
      if (missing.has(folder) || (await files.facts(folder)) !== undefined) break;
      missing.add(folder);
    }
  }
  return [...missing];
}

async function hasOriginal(files: Files, path: string): Promise<boolean> {
  if ((await files.facts(stampPath(path))) !== undefined) return true;
  return (await files.facts(originalPath(path))) !== undefined;
}

/** From the innermost on, without the root. */
export function foldersAbove(path: string): readonly string[] {
  const folder = posix.dirname(path);
  return folder === '/' ? [] : [folder, ...foldersAbove(folder)];
}

export async function saveOriginal(
  files: Files,
  path: string,
  options: { readonly isDurable: boolean },
): Promise<void> {
  const facts = await files.facts(path);
  const target = facts === undefined ? stampPath(path) : originalPath(path);
  await files.makeFolder(posix.dirname(daemonFiles.originals));
  await files.makeFolder(posix.dirname(target), { mode: 0o700 });
  if (facts === undefined) return files.write(target, '', { mode: 0o600, ...options });
  if (facts.kind === 'link') return files.symlink(await files.readLink(path), target);
  const { mode, uid, gid } = facts;
  if (facts.kind === 'file') return files.write(target, await files.read(path), { mode, uid, gid, ...options });
  // Of a folder only its rights are kept.
  await files.makeFolder(target, { mode });
  await files.setMode(target, mode);
  await files.setOwner(target, { uid, gid });
}

/** Also the folders above it that are empty then. */
export async function removeOriginal(files: Files, path: string): Promise<void> {
  for (const [root, kept] of [
    [daemonFiles.originals, originalPath(path)],
    [daemonFiles.noOriginals, stampPath(path)],
  ] as const) {
    await files.remove(kept);
    for (const folder of foldersAbove(kept)) {
      if (!folder.startsWith(root) || !(await files.removeEmptyFolder(folder))) break;
    }
  }
}

export async function wasNothing(files: Files, path: string): Promise<boolean> {
  return (await files.facts(stampPath(path))) !== undefined;
}

/** One file per unit of the operating system: whether it was enabled before a config named it. */
const unitOriginals = `${daemonFiles.stateFolder}/unit-originals`;

/** Undefined where no config has named the unit. */
export async function wasUnitEnabled({ files }: Host, name: string): Promise<boolean | undefined> {
  const state = await files.readIfPresent(`${unitOriginals}/${name}`);
  return state === undefined ? undefined : Buffer.from(state).toString('utf8') === 'enabled';
}

export async function saveUnitStates({ files }: Host, states: Readonly<Record<string, boolean>>): Promise<void> {
  for (const [name, isEnabled] of Object.entries(states)) {
    await makeStateFolder(files);
    await files.makeFolder(unitOriginals, { mode: 0o700 });
    await files.write(`${unitOriginals}/${name}`, isEnabled ? 'enabled' : 'disabled', { mode: 0o600 });
  }
}

export async function forgetUnitState({ files }: Host, name: string): Promise<void> {
  await files.remove(`${unitOriginals}/${name}`);
  await files.removeEmptyFolder(unitOriginals);
}

/** Of the units that a config names and does not bring, those of which nothing is known yet. */
export async function foreignUnitStates(
  host: Host,
  { units }: Pick<WantedState, 'units'>,
): Promise<Readonly<Record<string, boolean>>> {
  const foreign: string[] = [];
  for (const { hasContents, isEnabled, name } of units.values()) {
    if (hasContents || isEnabled === undefined) continue;
    if ((await wasUnitEnabled(host, name)) === undefined) foreign.push(name);
  }
  const states = await unitStates(host, foreign);
  return Object.fromEntries([...states].map(([name, state]) => [name, isEnabledState(state)]));
}
