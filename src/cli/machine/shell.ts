// `firstlight machine shell`
import { argument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { clusterOption } from './options.ts';

export const machineShellVerb = defineVerb({
  args: { machine: argument('name of the machine') },
  options: { cluster: clusterOption },
  examples: ['firstlight machine shell a'],
  run: async (invocation) => {
    const { runInside } = await import('./run-inside.ts');
    return runInside(invocation, invocation.args.machine, ['/bin/bash', '--login']);
  },
});
