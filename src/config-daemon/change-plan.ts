// What has to be done on a machine to get from one config to another: a pure function of the two. Whether a path had
// an original, and how a unit was enabled before, is seen later on the machine.
import type { MachineConfigSpec } from '../machine-config/machine-config.ts';
import type { WantedNode, WantedUnit } from './wanted-state.ts';

export interface ChangePlan {
  /** Files, links and folders that are new or different; folders before what is in them. */
  readonly put: readonly WantedNode[];
  /** Paths that no config wants any more: the original comes back, or nothing stays. */
  readonly leave: readonly string[];
  /** Units whose enablement has to be looked at, as the new config wants them. */
  readonly units: readonly WantedUnit[];
  /** Units that no config names any more. */
  readonly leavingUnits: readonly string[];
  /** The hash of the password of `core`; `null` locks it; undefined leaves it as it is. */
  readonly passwordHash?: string | null;
}

export interface PlanOptions {
  /** Everything of the new config is written again, whatever the old config says (force file). */
  readonly isWhole?: boolean;
}

export function planChange(_from: MachineConfigSpec, _to: MachineConfigSpec, _options: PlanOptions = {}): ChangePlan {
  throw new Error('not built yet');
}

/** True when the machine already has everything: only the name of its config changes. */
export function isEmptyPlan(plan: ChangePlan): boolean {
  const { put, leave, units, leavingUnits, passwordHash } = plan;
  return [put, leave, units, leavingUnits].every((list) => list.length === 0) && passwordHash === undefined;
}
