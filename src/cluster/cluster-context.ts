// What the stages of `create cluster` share. What one stage finds out and a later one needs is in `found`, always looked
// up anew in this run: nothing but the journal outlives the command.
import type { CreatedAssets } from '../assets/create-assets.ts';
import type { Host } from '../host/host.ts';
import type { LocalCluster } from '../platform/local/local-cluster.ts';
import type { MachineImage } from '../contract/machine-image.ts';
import type { Emit } from '../workflow/events.ts';
import type { Journal } from '../workflow/journal.ts';
import type { ClusterSight } from './observe-cluster.ts';
import type { WaitLimits, StallWatch } from './wait-for-progress.ts';

export interface ClusterContext {
  readonly host: Host;
  /** The asset folder. */
  readonly dir: string;
  /** The checkout and version from which a missing release is built. */
  readonly project: { readonly folder: string; readonly version: string };
  readonly journal: Journal;
  readonly emit: Emit;
  readonly patience: WaitLimits;
  /** Somebody wants to look into the bootstrap machine afterwards. */
  readonly keepsBootstrap: boolean;
  /** Told what is going on in the machines whenever somebody waits for them. */
  readonly onSight: (sight: ClusterSight) => void;
  /** Told why nothing moves, when that is known. */
  readonly onLikely: StallWatch['onLikely'];
  readonly found: Found;
}

export interface Found {
  assets?: CreatedAssets;
  image?: MachineImage;
  cluster?: LocalCluster;
}

export function assetsOf({ found }: ClusterContext): CreatedAssets {
  if (found.assets === undefined) throw new Error('the assets are used before they are made');
  return found.assets;
}

export function machineImageOf({ found }: ClusterContext): MachineImage {
  if (found.image === undefined) throw new Error('the machine image is used before the release is there');
  return found.image;
}

export function clusterOf({ found }: ClusterContext): LocalCluster {
  if (found.cluster === undefined) throw new Error('the cluster is used before its machines are made');
  return found.cluster;
}
