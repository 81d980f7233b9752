// `firstlight destroy cluster`
import { defineVerb } from '../frame/verb.ts';

export const destroyClusterVerb = defineVerb({
  description: 'The assets stay in their folder; remove it yourself when you do not need them any more.',
  examples: ['firstlight destroy cluster', 'firstlight destroy cluster --dir lab'],
  run: async (invocation) => {
    const { destroyWholeCluster } = await import('../../cluster/destroy.ts');
    const destroyed = await destroyWholeCluster(invocation, invocation.global.dir);
    const { cluster, machines } = destroyed;
    const text =
      machines.length === 0 ? `nothing was left of ${cluster}` : `destroyed ${cluster}: ${machines.join(', ')}`;
    return { data: destroyed, text: `${text}\n` };
  },
});
