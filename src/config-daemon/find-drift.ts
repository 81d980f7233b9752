// Drift: where a machine differs from the config that it has. Contents are never shown. What the agent decides at run
// time (a unit whose enablement the config leaves open) is no drift.
import { posix } from 'node:path';
import { unitFolder } from '../contract/machine-paths.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { MachineConfigSpec } from '../machine-config/machine-config.ts';
import { type ChangePlan, isMadeByIgnition } from './change-plan.ts';
import { compareNode } from './node-difference.ts';
import { foldersAbove } from './originals.ts';
import { type OwnerOf, readOwners } from './owners.ts';
import { isEnabledState, unitStates } from './unit-states.ts';
import { type WantedNode, type WantedUnit, wantedState } from './wanted-state.ts';

export interface Drift {
  /** A path, or the name of a unit. */
  readonly subject: string;
  /** One sentence with the subject: `mode mismatch for file /etc/x: 0600, should be 0644`. */
  readonly message: string;
}

type Config = Pick<MachineConfigSpec, 'config'>;

/** Everything that differs, in the order of the config; empty when the machine is as it should be. */
export async function findDrift(host: Host, spec: Config): Promise<readonly Drift[]> {
  const { nodes, units } = wantedState(spec);
  const ownerOf = await readOwners(host);
  const drifts: Drift[] = [];
  for (const node of nodes.values()) {
    const message = await driftOf(host, node, ownerOf);
    if (message !== undefined) drifts.push({ subject: node.path, message });
  }
  return [...drifts, ...(await unitDrift(host, [...units.values()]))];
}

async function driftOf({ files }: Host, node: WantedNode, ownerOf: OwnerOf): Promise<string | undefined> {
  try {
    return await compareNode(files, node, ownerOf);
  } catch (error) {
    // An owner that the machine does not have, or a file that cannot be read: the message names the path.
    if (error instanceof FirstlightError) return error.message;
    throw error;
  }
}

async function unitDrift(host: Host, units: readonly WantedUnit[]): Promise<readonly Drift[]> {
  const judged = units.filter(({ isEnabled, isMasked }) => isEnabled !== undefined && !isMasked);
  const states = await unitStates(
    host,
    judged.map(({ name }) => name),
  );
  return judged.flatMap(({ name, isEnabled = false, hasContents }): readonly Drift[] => {
    const state = states.get(name) ?? 'not-found';
    // A unit that the operating system does not have has nothing to be enabled; ours is missed as a file.
    if (state === 'not-found' || (state.startsWith('masked') && hasContents)) return [];
    const isWrong = isEnabled ? state === 'disabled' || state.startsWith('masked') : isEnabledState(state);
    const message = `unit ${name} is ${state}, should be ${isEnabled ? 'enabled' : 'disabled'}`;
    return isWrong ? [{ subject: name, message }] : [];
  });
}

/** The plan that writes back what has drifted, and nothing else. */
export function planHeal(spec: Config, drifts: readonly Drift[]): ChangePlan {
  const { nodes, units } = wantedState(spec);
  const subjects = new Set(drifts.map(({ subject }) => subject));
  const put = [...nodes.values()].filter((node) => subjects.has(node.path) && !isMadeByIgnition(node));
  return {
    put: put.sort((one, other) => (one.path < other.path ? -1 : 1)),
    leave: [],
    units: [...units.values()].filter(({ name }) => subjects.has(name)),
    leavingUnits: [],
  };
}

/** The folders in which a change may be drift: those that exist, and the nearest one above a folder that is missing. */
export async function foldersToWatch({ files }: Host, spec: Config): Promise<readonly string[]> {
  const { nodes, units } = wantedState(spec);
  const folders = new Set<string>();
  for (const { path, kind } of nodes.values()) {
    for (const folder of [...(kind === 'folder' ? [path] : []), ...foldersAbove(path)]) {
      if ((await files.facts(folder))?.kind !== 'folder') continue;
      folders.add(folder);
      break;
    }
  }
  if (units.size === 0) return [...folders].sort();
  // Links that enable units are in folders of their own.
  const linked = ((await files.list(unitFolder)) ?? []).filter((name) => /\.(wants|requires)$/.test(name));
  for (const folder of [unitFolder, ...linked.map((name) => posix.join(unitFolder, name))]) folders.add(folder);
  return [...folders].sort();
}
