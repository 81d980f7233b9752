// The verbs that run on machines of the cluster, from their units; not listed.
import type { CommandSpec } from './command.ts';

export const nodeCommands: readonly CommandSpec[] = [
  {
    path: ['agent'],
    summary: 'Keep this machine what the cluster says it is.',
    isHidden: true,
    examples: ['firstlight agent'],
    load: async () => (await import('./agent.ts')).agent,
  },
];
