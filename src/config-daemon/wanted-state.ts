// What a config wants on a machine, as Ignition would have made it: files, links and folders by path (units, drop-ins,
// masks and SSH keys are such files too), the enablement of units, the password of `core`. Pure.
import type { MachineConfigSpec } from '../machine-config/machine-config.ts';

/** By number or by name; a name is looked up on the machine. Root where nothing is given. */
export interface WantedOwner {
  readonly user: number | string;
  readonly group: number | string;
}

interface WantedAt {
  readonly path: string;
  readonly owner: WantedOwner;
}

export type WantedNode =
  | (WantedAt & { readonly kind: 'file'; readonly mode: number; readonly bytes: Uint8Array })
  | (WantedAt & { readonly kind: 'folder'; readonly mode: number })
  | (WantedAt & { readonly kind: 'link'; readonly target: string; readonly isHard: boolean });

export interface WantedUnit {
  readonly name: string;
  /** Undefined: the config does not say, and it stays as it is. */
  readonly isEnabled: boolean | undefined;
  readonly isMasked: boolean;
  /** False for a unit of the operating system, which the config only enables, masks or adds to. */
  readonly hasContents: boolean;
}

export interface WantedState {
  readonly nodes: ReadonlyMap<string, WantedNode>;
  readonly units: ReadonlyMap<string, WantedUnit>;
  readonly passwordHash: string | undefined;
}

export function wantedState(_spec: MachineConfigSpec): WantedState {
  throw new Error('not built yet');
}
