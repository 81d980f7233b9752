// The verbs of a whole cluster.
import type { CommandSpec, OptionSpec } from './command.ts';

const timeout: OptionSpec = {
  flags: '--timeout <seconds>',
  description: 'give up after this long (default: go on while something moves)',
};

export const clusterCommands: readonly CommandSpec[] = [
  {
    path: ['create', 'cluster'],
    summary: 'Make a cluster on this host: from nothing, or from where it stopped.',
    description:
      'Makes the assets, the release and the machines, follows the bootstrap until the masters carry the cluster alone, removes the bootstrap machine and waits until every node is Ready. Stop it whenever you like: the machines go on, and the same command continues.',
    options: [timeout],
    examples: ['firstlight create cluster', 'firstlight create cluster --dir lab'],
    load: async () => (await import('./create-cluster.ts')).createClusterCommand,
  },
];
