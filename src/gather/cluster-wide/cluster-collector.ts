// What is taken of the cluster as a whole, as values: from its API, from the asset folder, from this host.
import type { Reason } from '../../diagnose/diagnose.ts';
import type { Host } from '../../host/host.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { Waterfall } from '../../waterfall/waterfall-rows.ts';
import type { BundleContents } from '../bundle-contents.ts';
import type { GatheredMachine } from '../machine/gathered-machine.ts';

/** Why nothing moves, as far as it is known. */
export interface GatheredDiagnosis {
  readonly reasons: readonly Reason[];
  /** What is waited for, as sentences. */
  readonly missing: readonly string[];
}

export interface GatherSources {
  readonly host: Host;
  /** The asset folder. */
  readonly dir: string;
  readonly machines: readonly GatheredMachine[];
  /** Throws where the folder has no kubeconfig. */
  readonly connect: () => Promise<KubernetesClient>;
  readonly diagnose: () => Promise<GatheredDiagnosis>;
  /** Throws where no run is on record. */
  readonly waterfall: () => Promise<Waterfall>;
  readonly signal: AbortSignal;
  /** How long a single question may take. */
  readonly patienceMs: number;
}

export interface ClusterCollector {
  readonly name: string;
  /** What it takes, for `gather --collectors` and the documentation. */
  readonly takes: string;
  /** Throws where it can take nothing; single things that it cannot take it reports as missed. */
  readonly collect: (sources: GatherSources, contents: BundleContents) => Promise<void>;
}
