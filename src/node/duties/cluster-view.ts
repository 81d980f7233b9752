// Keeps the watches that the other duties read. Pod ranges, peers and the inventory are in the API, and a watch
// reports a change at once.
import { nodeConfigAnnotations } from '../../contract/machine-config-node.ts';
import { waitingFor } from '../../contract/missing.ts';
import { bootIdOf, isReadyNode } from '../../kubernetes/node-object.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { followCluster } from '../../membership/cluster-view.ts';
import type { Agent } from '../agent-context.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';
import { keepInventoryCopy } from '../known-inventory.ts';

export const clusterViewDuty: Duty = {
  name: 'cluster-view',
  roles: ['master', 'worker'],
  needs: [],
  run: async (agent) => {
    const { host, node, cluster: view, doorbell } = agent;
    const client = await agent.api();
    const { lastFailure } = agent.background.keep('cluster-view', (signal) =>
      followCluster({
        client,
        host,
        role: node.role,
        view,
        signal,
        onChange: () => doorbell.ring(),
        onSeen: (nodes) => noteOwnNode(agent, nodes),
      }),
    );
    if (view.nodes === undefined) {
      return waiting(
        waitingFor(
          `the API at ${client.server}`,
          'to list the nodes',
          lastFailure === undefined ? {} : { detail: lastFailure },
        ),
      );
    }
    if (node.role === 'master' && (await keepInventoryCopy(host, view))) return acted('kept a copy of the inventory');
    return settled();
  },
};

function noteOwnNode(agent: Agent, nodes: readonly KubernetesObject[]): void {
  const { node, timeline, doorbell } = agent;
  const self = nodes.find(({ metadata }) => metadata.name === node.name);
  if (self === undefined) return;
  timeline.mark('node', 'began', { text: 'registered' });
  if (isReadyNode(self)) timeline.mark('node', 'done', { text: 'Ready' });
  const asked = askedOf(self);
  if (lastAsked.get(agent) !== asked) doorbell.ring();
  lastAsked.set(agent, asked);
}

const lastAsked = new WeakMap<Agent, string>();

/** What the Node says that the duty machine-config acts on or waits for. */
function askedOf(self: KubernetesObject): string {
  const { desired, lastAppliedDrain, driftPolicy } = nodeConfigAnnotations;
  const annotations = self.metadata.annotations ?? {};
  const asked = [desired, lastAppliedDrain, driftPolicy].map((name) => annotations[name]);
  return JSON.stringify([isReadyNode(self), bootIdOf(self), ...asked]);
}
