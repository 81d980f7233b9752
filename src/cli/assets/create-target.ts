// Brings the asset folder to a target and says what is there now: `create manifests`, `create ignition-configs`.
import { createAssets } from '../../assets/create-assets.ts';
import { inOrder } from '../../assets/graph.ts';
import { type TargetName, targets } from '../../assets/targets.ts';
import type { WorkflowEvent } from '../../workflow/events.ts';
import { shownPath } from '../frame/paths.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';

export async function createTarget(invocation: Invocation, target: TargetName): Promise<CommandResult> {
  const { host, signal, global } = invocation;
  const tally = { made: 0, kept: 0 };
  const emit = (event: WorkflowEvent): void => {
    if (event.kind === 'stage-done') tally.made += 1;
    if (event.kind === 'stage-unchanged' || event.kind === 'stage-adopted') tally.kept += 1;
    invocation.emit(event);
  };
  const startMs = host.clock.monotonicMs();
  const assets = targets[target];
  const created = await createAssets({
    host,
    dir: global.dir,
    targets: assets,
    purpose: `create ${target}`,
    emit,
    signal,
  });
  const files = [...created.files.values()].flatMap((set) => [...set.keys()]);
  const results = assets.flatMap((asset) => [...(created.files.get(asset.name)?.keys() ?? [])]);
  const seconds = (host.clock.monotonicMs() - startMs) / 1000;
  const data = { dir: global.dir, target, made: tally.made, kept: tally.kept, files: [...new Set(files)].sort() };
  return {
    data,
    text: summary({ dir: shownPath(invocation), results, tally, seconds, count: inOrder(assets).length }),
  };
}

interface Summary {
  readonly dir: string;
  readonly results: readonly string[];
  readonly tally: { readonly made: number; readonly kept: number };
  readonly seconds: number;
  readonly count: number;
}

function summary({ dir, results, tally, seconds, count }: Summary): string {
  const did = tally.made === 0 ? `nothing changed in ${count} assets` : `${tally.made} assets made, ${tally.kept} kept`;
  return [...results.map((path) => `${dir}/${path}\n`), `${did}, ${seconds.toFixed(1)} s\n`].join('');
}
