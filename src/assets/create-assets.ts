// Makes the assets of a target and everything they are made from, in order, by the workflow engine.
// The first run, a rerun, a run after an edit and a run after a crash are this one function.
import type { Host } from '../host/host.ts';
import { runStages } from '../workflow/engine.ts';
import type { Emit } from '../workflow/events.ts';
import type { AnyAsset, FileSet, ValueOf } from './asset.ts';
import { type AssetContext, assetStage } from './asset-stage.ts';
import { openAssetFolder } from './folder.ts';
import { inOrder } from './graph.ts';

export interface CreateAssetsOptions {
  readonly host: Host;
  readonly dir: string;
  readonly targets: readonly AnyAsset[];
  /** The command, for the message that another command prints when it finds the folder locked. */
  readonly purpose: string;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface CreatedAssets {
  /** The asset's value, as it is on the disk now. */
  readonly value: <A extends AnyAsset>(asset: A) => ValueOf<A>;
  readonly files: ReadonlyMap<string, FileSet>;
}

export async function createAssets(options: CreateAssetsOptions): Promise<CreatedAssets> {
  const { host, emit, signal } = options;
  await using folder = await openAssetFolder(host, options.dir, options.purpose);
  const context: AssetContext = { folder, emit, known: new Map() };
  const stages = inOrder(options.targets).map(assetStage);
  await runStages({ stages, context, journal: folder.journal, clock: host.clock, emit, signal });
  return {
    value: (asset) => context.known.get(asset.name)?.value as ValueOf<typeof asset>,
    files: new Map([...context.known].map(([name, known]) => [name, known.files])),
  };
}
