// Somebody who looks at every change of the nodes while a roll-out goes on, and says at its end how often each machine
// booted and how many nodes could not be used at the same time.
import { realHost } from '../../../src/host/real/real-host.ts';
import { watchObjects } from '../../../src/kubernetes/watch.ts';
import { type ConfigCluster, type NodeSight, nodeSight, withApi } from './config-lab.ts';

export interface NodeStory {
  /** Node → the boot ids that it had, in their order. */
  readonly boots: Readonly<Record<string, readonly string[]>>;
  /** At the same moment: not Ready, or cordoned. */
  readonly mostUnavailable: number;
  /** Nodes that were cordoned or not Ready at any moment. */
  readonly disturbed: readonly string[];
}

export interface NodeWatch {
  readonly end: () => Promise<NodeStory>;
}

export function watchNodes(cluster: ConfigCluster, names: readonly string[]): NodeWatch {
  const stop = new AbortController();
  const sights: (readonly NodeSight[])[] = [];
  const watching = withApi(cluster, async (client) => {
    const kind = { apiVersion: 'v1', kind: 'Node' };
    for await (const nodes of watchObjects({ client, host: realHost(), kind, signal: stop.signal })) {
      sights.push(nodes.map(nodeSight).filter(({ name }) => names.includes(name)));
    }
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    end: async () => {
      stop.abort();
      await watching;
      return storyOf(sights, names);
    },
  };
}

function storyOf(sights: readonly (readonly NodeSight[])[], names: readonly string[]): NodeStory {
  const all = sights.flat();
  const bootsOf = (node: string): readonly string[] => [
    ...new Set(all.filter(({ name }) => name === node).map(({ bootId }) => bootId)),
  ];
  return {
    boots: Object.fromEntries(names.map((name) => [name, bootsOf(name)])),
    mostUnavailable: Math.max(0, ...sights.map((nodes) => nodes.filter(({ isAvailable }) => !isAvailable).length)),
    disturbed: names.filter((node) => all.some(({ name, isAvailable }) => name === node && !isAvailable)),
  };
}

/** How many times a machine was started anew while it was looked at. */
export function rebootsOf({ boots }: NodeStory, node: string): number {
  return (boots[node]?.length ?? 0) - 1;
}
