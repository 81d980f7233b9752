// Why nothing moves in the cluster of a folder: collects facts from host, machines and API for the checks of diagnose/.
import { pausePointOf } from '../contract/bootstrap-pause.ts';
import type { Missing } from '../contract/missing.ts';
import { collectFacts } from '../diagnose/collect-facts.ts';
import { diagnose } from '../diagnose/diagnose.ts';
import type { DiagnosisFacts } from '../diagnose/facts.ts';
import type { Host } from '../host/host.ts';
import { isHeld } from './bootstrap-phase.ts';
import { dirOption } from './cluster-dir.ts';
import { connectCluster } from './cluster-kubeconfig.ts';
import { mustFindCluster } from './find-cluster.ts';
import { observeCluster } from './observe-cluster.ts';
import type { StallExplanation, StallWatch } from './wait-for-progress.ts';

export interface StalledCluster {
  readonly host: Host;
  readonly dir: string;
  readonly signal: AbortSignal;
}

export interface ExplainedStall extends StallExplanation {
  readonly facts: DiagnosisFacts;
}

export async function explainStall(
  { host, dir, signal }: StalledCluster,
  missing: readonly Missing[],
): Promise<ExplainedStall> {
  const cluster = await mustFindCluster(host, dir);
  const { machines, bootstrap } = await observeCluster(host, cluster);
  await using client = await connectCluster(host, dir);
  const heldBefore = isHeld(bootstrap) ? pausePointOf(bootstrap?.stage ?? '') : undefined;
  const facts = await collectFacts({ ...cluster, host, reports: machines, heldBefore, missing, client, signal });
  return { reasons: diagnose(facts), dirOption: dirOption(host, dir), facts };
}

export function stallWatch(stalled: StalledCluster, onLikely: StallWatch['onLikely'] = () => {}): StallWatch {
  return { explain: (missing) => explainStall(stalled, missing), onLikely };
}
