// Every machine is a Ready node, seen through the API that a person uses.
import type { Stage, StageResult, StageTools } from '../../workflow/stage.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { connectCluster } from '../cluster-kubeconfig.ts';
import { lookAtNodes } from '../cluster-nodes.ts';
import { plannedNodes } from '../cluster-plan.ts';
import { stallWatch } from '../explain-stall.ts';
import { waitForProgress } from '../wait-for-progress.ts';

export const nodes: Stage<ClusterContext> = {
  name: 'nodes',
  why: 'A cluster is there when all of its machines can be given work.',
  observe: async () => ({ status: 'needed', because: 'who is Ready is asked each time' }),
  run: async (context, tools) => {
    return awaitReadyNodes(context, tools, plannedNodes(context.plan.get()));
  },
};

/** Ends when all these machines are Ready nodes. */
export async function awaitReadyNodes(
  { host, dir, plan, command, patience, onLikely }: ClusterContext,
  { signal, report }: StageTools,
  expected: readonly string[],
): Promise<StageResult> {
  const cluster = plan.get();
  await using client = await connectCluster(host, dir);
  await waitForProgress({
    clock: host.clock,
    command,
    stage: nodes.name,
    patience,
    everyMs: 500,
    signal,
    look: () => lookAtNodes({ host, client, cluster, expected, signal }),
    onMissing: (missing) => report({ missing }),
    stall: stallWatch({ host, dir, signal }, onLikely),
  });
  return { inputs: { cluster: cluster.name }, outputs: {}, note: `${expected.length} Ready` };
}
