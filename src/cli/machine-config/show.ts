// `firstlight machine-config show`
import { optionalArgument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { fromOption, poolArgument, readsFolders } from './options.ts';

export const machineConfigShowVerb = defineVerb({
  description: `${readsFolders} With a name it prints that file or unit as the machine gets it.`,
  args: { pool: poolArgument, name: optionalArgument('a path or unit, to see its contents') },
  options: { from: fromOption },
  examples: [
    'firstlight machine-config show master',
    'firstlight machine-config show master kubelet.service',
    'firstlight machine-config show worker /etc/containerd/config.toml',
  ],
  run: async (invocation) => {
    const { loadInput } = await import('./input.ts');
    const { showEntry, showPool } = await import('./shown-pool.ts');
    const { pool, name } = invocation.args;
    const objects = await loadInput(invocation);
    return name === undefined ? showPool(objects, pool) : showEntry(objects, pool, name);
  },
});
