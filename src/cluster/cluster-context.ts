// What the stages of `create cluster` share. What one stage makes and a later one needs is a `Produced` value, made
// anew in each run: of the values here, only the journal remains after the command.
import type { BootkubeEnvironment } from '../contract/bootkube-environment.ts';
import type { BootstrapPause } from '../contract/bootstrap-pause.ts';
import type { MachineImage } from '../contract/machine-image.ts';
import type { Host } from '../host/host.ts';
import type { Emit } from '../workflow/events.ts';
import type { Journal } from '../workflow/journal.ts';
import type { ClusterPlan } from './cluster-plan.ts';
import type { ClusterObservation } from './observe-cluster.ts';
import type { StallWatch, WaitLimits } from './wait-for-progress.ts';

export interface ClusterContext {
  readonly host: Host;
  /** The asset folder. */
  readonly dir: string;
  /** The checkout and version from which a missing release is built. */
  readonly project: { readonly folder: string; readonly version: string };
  /** As a person types it, without `firstlight`: what continues this run. */
  readonly command: string;
  readonly journal: Journal;
  readonly emit: Emit;
  readonly patience: WaitLimits;
  /** The user wants to look into the bootstrap machine afterwards. */
  readonly keepsBootstrap: boolean;
  /** Where the bootstrap is to be held, if it is begun by this command. */
  readonly pause: BootstrapPause | undefined;
  /** Called with the state of the machines while a stage waits for them. */
  readonly onObservation: (observed: ClusterObservation) => void;
  /** Called with the likely reason when nothing moves. */
  readonly onLikely: StallWatch['onLikely'];
  /** Set by the stage `assets`. */
  readonly plan: Produced<ClusterPlan>;
  /** Set by the stage `release`. */
  readonly image: Produced<MachineImage>;
  /** The images by their variables, for the config of the bootstrap machine. Set by the stage `release`. */
  readonly bootkubeEnvironment: Produced<BootkubeEnvironment>;
}

/** A value that one stage sets and later stages get. */
export interface Produced<T> {
  readonly set: (value: T) => void;
  readonly get: () => T;
}

/** To get it before it was set is a mistake in the order of the stages. */
export function produced<T>(what: string): Produced<T> {
  let made: { readonly value: T } | undefined;
  return {
    set: (value) => {
      made = { value };
    },
    get: () => {
      if (made === undefined) throw new Error(`${what} is used before it is there`);
      return made.value;
    },
  };
}
