// `firstlight destroy bootstrap`
import { flag } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const destroyBootstrapVerb = defineVerb({
  options: { force: flag('--force', 'also while the cluster still needs it') },
  examples: ['firstlight destroy bootstrap'],
  run: async (invocation) => {
    const { destroyBootstrap } = await import('../../cluster/destroy.ts');
    const { global, options } = invocation;
    const destroyed = await destroyBootstrap(invocation, global.dir, { isForced: options.force });
    const text = destroyed.machines.length === 0 ? 'there is no bootstrap machine' : 'destroyed the bootstrap machine';
    return { data: destroyed, text: `${text}\n` };
  },
});
