// The proof of the pudding, by the API that a person uses: every machine is a Ready node.
import { inventory } from '../../assets/inventory.ts';
import type { Stage } from '../../workflow/stage.ts';
import { assetsOf, type ClusterContext } from '../cluster-context.ts';
import { lookAtNodes } from '../cluster-nodes.ts';
import { stallWatch } from '../explain-stall.ts';
import { connectCluster } from '../cluster-kubeconfig.ts';
import { platformName } from '../machine-requests.ts';
import { waitForProgress } from '../wait-for-progress.ts';

export const nodes: Stage<ClusterContext> = {
  name: 'nodes',
  why: 'A cluster is there when all of its machines can be given work.',
  inputs: ['inventory.json', 'auth/kubeconfig-local'],
  outputs: ['every machine is a Ready node'],
  observe: async () => ({ status: 'needed', because: 'who is Ready is asked each time' }),
  run: async (context, { signal, report }) => {
    const { host, dir, patience } = context;
    const expected = expectedNodes(context);
    const cluster = platformName(assetsOf(context));
    await using client = await connectCluster(host, dir);
    await waitForProgress({
      clock: host.clock,
      command: 'create cluster',
      stage: 'nodes',
      patience,
      everyMs: 500,
      signal,
      look: () => lookAtNodes({ host, client, cluster, expected, signal }),
      onMissing: (missing) => report({ missing }),
      stall: stallWatch({ host, dir, signal }, context.onLikely),
    });
    return { inputs: { cluster }, outputs: {}, note: `${expected.length} Ready` };
  },
  verify: [],
};

export function expectedNodes(context: ClusterContext): readonly string[] {
  const { machines } = assetsOf(context).value(inventory);
  return machines.filter(({ role }) => role !== 'bootstrap').map(({ name }) => name);
}
