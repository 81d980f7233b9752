// The last stage: the release is applied, and every operator says that its part of the cluster works.
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { Stage } from '../../workflow/stage.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { connectCluster } from '../cluster-kubeconfig.ts';
import { apiAway } from '../cluster-nodes.ts';
import { listOperators, operatorsMissing } from '../cluster-operators.ts';
import { stallWatch } from '../explain-stall.ts';
import { type ProgressLook, waitForProgress } from '../wait-for-progress.ts';

export const operatorsStage: Stage<ClusterContext> = {
  name: 'operators',
  why: 'A cluster is complete when everything that its release brings works: names, storage, metrics and the rest.',
  observe: async () => ({ status: 'needed', because: 'how operators are is asked each time' }),
  run: async ({ host, dir, plan, command, patience, onLikely }, { signal, report }) => {
    await using client = await connectCluster(host, dir);
    let count = 0;
    await waitForProgress({
      clock: host.clock,
      command,
      stage: operatorsStage.name,
      patience,
      everyMs: 1_000,
      signal,
      look: () => lookAtOperators(client, signal, (seen) => (count = seen)),
      onMissing: (missing) => report({ missing }),
      stall: stallWatch({ host, dir, signal }, onLikely),
    });
    return { inputs: { cluster: plan.get().name }, outputs: {}, note: `${count} Available` };
  },
};

async function lookAtOperators(
  client: KubernetesClient,
  signal: AbortSignal,
  onCount: (operators: number) => void,
): Promise<ProgressLook> {
  try {
    const seen = await listOperators(client, signal);
    const missing = operatorsMissing(seen);
    onCount(seen.operators.length);
    return { isDone: missing.length === 0, keys: missing.map(({ key }) => key), missing };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    return apiAway(error);
  }
}
