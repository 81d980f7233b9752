// Drift: where a machine differs from the config that it has. Contents are never shown.
import type { Host } from '../host/host.ts';
import type { MachineConfigSpec } from '../machine-config/machine-config.ts';
import type { ChangePlan } from './change-plan.ts';

export interface Drift {
  /** A path, or the name of a unit. */
  readonly subject: string;
  /** One sentence with the subject: `mode mismatch for file /etc/x: 0600, should be 0644`. */
  readonly message: string;
}

/** Everything that differs, in the order of the config; empty when the machine is as it should be. */
export async function findDrift(_host: Host, _spec: MachineConfigSpec): Promise<readonly Drift[]> {
  throw new Error('not built yet');
}

/** The plan that writes back what has drifted, and nothing else. */
export function planHeal(_spec: MachineConfigSpec, _drifts: readonly Drift[]): ChangePlan {
  throw new Error('not built yet');
}

/** The folders in which a change may be drift; those that exist. */
export async function foldersToWatch(_host: Host, _spec: MachineConfigSpec): Promise<readonly string[]> {
  throw new Error('not built yet');
}
