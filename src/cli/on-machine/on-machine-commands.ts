// The verbs that run on machines of the cluster, from their units; not listed.
import type { CommandSpec } from '../frame/verb.ts';

export const nodeCommands: readonly CommandSpec[] = [
  {
    path: ['agent'],
    summary: 'Keep this machine what the cluster says it is.',
    isHidden: true,
    examples: ['firstlight agent'],
    load: async () => (await import('./agent.ts')).agent,
  },
  {
    path: ['machine-facts'],
    summary: 'Say what keeps this machine from joining, as far as it can be seen from inside.',
    isHidden: true,
    options: [
      { flags: '--name <name>', description: 'a name that must resolve here', isRepeatable: true },
      { flags: '--balancer <address>', description: 'where the load balancer is' },
      { flags: '--port <port>', description: 'a port of the load balancer', isRepeatable: true },
    ],
    examples: ['firstlight machine-facts --name api-int.demo.test --balancer 10.99.0.1 --port 22623'],
    load: async () => (await import('./machine-facts.ts')).machineFactsCommand,
  },
];
