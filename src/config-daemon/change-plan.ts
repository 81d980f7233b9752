// What has to be done on a machine to get from one config to another: a pure function of the two. Whether a path had
// an original, and how a unit was enabled before, is seen later on the machine.
import type { MachineConfigSpec } from '../machine-config/machine-config.ts';
import { configDaemonErrors } from './errors.ts';
import {
  managedUser,
  unitPath,
  type WantedNode,
  type WantedState,
  type WantedUnit,
  wantedState,
} from './wanted-state.ts';

export interface ChangePlan {
  /** Files, links and folders that are new or different; folders before what is in them. */
  readonly put: readonly WantedNode[];
  /** Paths that the new config does not have any more: the original comes back, or nothing stays. */
  readonly leave: readonly string[];
  /** Units whose enablement has to be looked at, as the new config wants them. */
  readonly units: readonly WantedUnit[];
  /** Units that the new config does not name any more. */
  readonly leavingUnits: readonly string[];
  /** The hash of the password of `core`; `null` locks it, as a new user has it; undefined leaves it as it is. */
  readonly passwordHash?: string | null;
  /** Put together with the config, and no part of it: they have no original and no drift. */
  readonly beside?: readonly WantedNode[];
  /** Files that no config wrote and that would change what units of the new config do: they are set aside. */
  readonly foreign?: readonly string[];
}

export interface PlanOptions {
  /** Everything of the new config is looked at again, whatever the old config says. */
  readonly isWhole?: boolean;
}

/** Throws CONFIGDAEMON_NOT_POSSIBLE where only a new machine could have it. */
export function planChange(
  from: Pick<MachineConfigSpec, 'config'>,
  to: Pick<MachineConfigSpec, 'config'>,
  { isWhole = false }: PlanOptions = {},
): ChangePlan {
  const before = wantedState(from);
  const after = wantedState(to);
  const put = [...after.nodes.values()]
    .filter((node) => isWhole || !isSameNode(before.nodes.get(node.path), node))
    .filter((node) => isPossible(node, before.nodes.get(node.path)));
  const moved = new Set(put.map(({ path }) => path));
  const leave = [...before.nodes.keys()].filter((path) => !after.nodes.has(path));
  const units = [...after.units.values()].filter((unit) => {
    return isWhole || moved.has(unitPath(unit.name)) || !isSameUnit(before.units.get(unit.name), unit);
  });
  return {
    put: put.sort(byPath),
    leave: leave.sort(),
    units,
    leavingUnits: [...before.units.keys()].filter((name) => !after.units.has(name)),
    ...passwordChange(before, after, isWhole),
  };
}

/** True when the machine already has everything: only the name of its config changes. */
export function isEmptyPlan(plan: ChangePlan): boolean {
  const { put, leave, units, leavingUnits, passwordHash } = plan;
  return [put, leave, units, leavingUnits].every((list) => list.length === 0) && passwordHash === undefined;
}

function byPath(one: WantedNode, other: WantedNode): number {
  return one.path < other.path ? -1 : 1;
}

/** What only Ignition can make is left out where it stays as it is, and refused where it is new. */
function isPossible(node: WantedNode, before: WantedNode | undefined): boolean {
  const { path } = node;
  const isFolder = node.kind === 'folder';
  if (before !== undefined && before.kind !== 'no mask' && isFolder !== (before.kind === 'folder')) {
    throw configDaemonErrors.NOT_POSSIBLE({ subject: path, reason: 'a folder and a file cannot take turns at a path' });
  }
  if (!isMadeByIgnition(node)) return true;
  if (isSameNode(before, node)) return false;
  const reason = node.kind === 'file' ? 'its contents are not in the config' : 'hard links are made at first boot';
  throw configDaemonErrors.NOT_POSSIBLE({ subject: path, reason });
}

/** A running machine can compare it and never write it. */
export function isMadeByIgnition(node: WantedNode): boolean {
  return node.kind === 'hard link' || (node.kind === 'file' && 'elsewhere' in node.contents);
}

function isSameNode(one: WantedNode | undefined, other: WantedNode): boolean {
  if (one === undefined || one.kind !== other.kind) return false;
  if (one.owner.user !== other.owner.user || one.owner.group !== other.owner.group) return false;
  if ('mode' in one && 'mode' in other && one.mode !== other.mode) return false;
  if ('target' in one && 'target' in other && one.target !== other.target) return false;
  if (one.kind !== 'file' || other.kind !== 'file') return true;
  const [old, wanted] = [one.contents, other.contents];
  if ('bytes' in old && 'bytes' in wanted) return Buffer.from(old.bytes).equals(wanted.bytes);
  return 'elsewhere' in old && 'elsewhere' in wanted && old.elsewhere === wanted.elsewhere;
}

function isSameUnit(one: WantedUnit | undefined, other: WantedUnit): boolean {
  return (
    one !== undefined &&
    one.isEnabled === other.isEnabled &&
    one.isMasked === other.isMasked &&
    one.hasContents === other.hasContents
  );
}

function passwordChange(before: WantedState, after: WantedState, isWhole: boolean): Pick<ChangePlan, 'passwordHash'> {
  const isChanged = before.passwordHash !== after.passwordHash;
  if (!isChanged && !(isWhole && after.passwordHash !== undefined)) return {};
  return { passwordHash: after.passwordHash ?? null };
}

/** True when the user whose keys or password it brings must exist. */
export function needsUser({ put, passwordHash }: ChangePlan): boolean {
  return typeof passwordHash === 'string' || put.some(({ owner }) => owner.user === managedUser);
}
