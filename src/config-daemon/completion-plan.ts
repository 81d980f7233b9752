// The plan of a completion. Everything of the config is looked at, because nobody knows what has been done to the
// machine: masks of its units are undone, and drop-ins that no config wrote are set aside. What the former config wrote
// and the new one does not have leaves. Files that the config server adds are written and are no part of the config.
import { daemonFiles } from '../contract/machine-config-node.ts';
import { runtimeUnitFolder, unitFolder } from '../contract/machine-paths.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { FileNode } from '../ignition/config.ts';
import { readInlineContents } from '../ignition/inline-contents.ts';
import { readOwnConfig } from './adopt-served-config.ts';
import { type AppliedConfig, appliedConfigOf } from './applied-config.ts';
import { type ChangePlan, planChange } from './change-plan.ts';
import {
  isServedOutside,
  rootOwner,
  unitPath,
  type WantedNode,
  type WantedState,
  wantedFile,
  wantedState,
} from './wanted-state.ts';

export interface GivenConfig {
  /** What the machine is to have, and what drift is looked for in. */
  readonly config: AppliedConfig;
  /** Files that the config server adds for each machine. */
  readonly added: readonly WantedNode[];
}

/**
 * Takes apart what the in-place bootstrapper puts together: a MachineConfig, and the files that the config server added
 * to it. Where the served MachineConfig is among these, whatever it does not have was added.
 */
export function takeApart(given: AppliedConfig): GivenConfig {
  const { storage = {} } = given.spec.config;
  const { files = [] } = storage;
  const served = servedConfigIn(files);
  const own = new Set((served?.spec.config.storage?.files ?? files).map(({ path }) => path));
  const isAdded = ({ path }: FileNode): boolean => isServedOutside(path) || !own.has(path);
  const kept = { ...storage, files: files.filter((file) => !isAdded(file)) };
  const rest = { ...given, spec: { ...given.spec, config: { ...given.spec.config, storage: kept } } };
  const added = files.filter((file) => isAdded(file) && file.path !== daemonFiles.encapsulated);
  return { config: served ?? (added.length === 0 ? given : rest), added: added.map(wantedFile) };
}

function servedConfigIn(files: readonly FileNode[]): AppliedConfig | undefined {
  const file = files.find(({ path }) => path === daemonFiles.servedMachineConfig);
  const read = file === undefined ? undefined : readInlineContents(file.contents ?? {});
  if (read?.status !== 'inline') return undefined;
  return appliedConfigOf(jsonIfValid(read.bytes), daemonFiles.servedMachineConfig);
}

/** The config that the machine has; undefined also where the file is damaged. */
export async function readUsableConfig(host: Host): Promise<AppliedConfig | undefined> {
  return readOwnConfig(host).catch(unreadable);
}

/** Of a machine whose own config is lost: what it was served at its first boot. */
export async function readServedConfig({ files }: Host): Promise<AppliedConfig | undefined> {
  const content = await files.readIfPresent(daemonFiles.servedMachineConfig);
  if (content === undefined) return undefined;
  try {
    return appliedConfigOf(jsonIfValid(content), daemonFiles.servedMachineConfig);
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): undefined {
  if (!(error instanceof FirstlightError)) throw error;
  return undefined;
}

interface CompletionInput extends GivenConfig {
  readonly from: Pick<AppliedConfig, 'spec'>;
}

export async function completionPlan(host: Host, { from, config, added }: CompletionInput): Promise<ChangePlan> {
  const plan = planChange(from.spec, config.spec, { isWhole: true });
  const [before, after] = [wantedState(from.spec), wantedState(config.spec)];
  const beside = [...added, ...unmasked(after)];
  const paths = new Set(beside.map(({ path }) => path));
  const foreign = await foreignDropins(host, [before, after]);
  return { ...plan, leave: plan.leave.filter((path) => !paths.has(path)), beside, foreign };
}

/** A mask in /run is gone after a reboot, and keeps the unit from being enabled before it. */
function unmasked({ nodes, units }: WantedState): readonly WantedNode[] {
  return [...units.values()]
    .filter(({ isMasked }) => !isMasked)
    .flatMap(({ name }) => [unitPath(name), `${runtimeUnitFolder}/${name}`])
    .filter((path) => !nodes.has(path))
    .map((path) => ({ kind: 'no mask', path, owner: rootOwner }));
}

/** Of units that the config brings; units of the operating system may have what their packages brought. */
async function foreignDropins({ files }: Host, states: readonly WantedState[]): Promise<readonly string[]> {
  const after = states.at(-1);
  const ours = [...(after?.units.values() ?? [])].filter(({ hasContents, isMasked }) => hasContents && !isMasked);
  const found: string[] = [];
  for (const { name } of ours) {
    const folder = `${unitFolder}/${name}.d`;
    if ((await files.facts(folder))?.kind !== 'folder') continue;
    const names = (await files.list(folder)) ?? [];
    found.push(...names.filter((each) => each.endsWith('.conf')).map((each) => `${folder}/${each}`));
  }
  return found.filter((path) => states.every(({ nodes }) => !nodes.has(path)));
}
