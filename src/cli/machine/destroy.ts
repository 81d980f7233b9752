// `firstlight machine destroy`
import { ableTo } from '../../platform/platform.ts';
import { flag } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { clusterOption, machineNames } from './options.ts';

export const machineDestroyVerb = defineVerb({
  args: { names: machineNames },
  options: { all: flag('--all', 'the whole cluster, also one that was never completed'), cluster: clusterOption },
  examples: ['firstlight machine destroy a', 'firstlight machine destroy --all'],
  run: async (invocation) => {
    const { chosenCluster, chosenMachines } = await import('./chosen-machines.ts');
    const chosen = await chosenCluster(invocation);
    const { platform, cluster } = chosen;
    const names = await chosenMachines(invocation, chosen);
    if (invocation.options.all) await ableTo(platform, 'destroyCluster')(invocation, cluster);
    else await ableTo(platform, 'destroyMachines')(invocation, cluster, names);
    return { data: { cluster, destroyed: names }, text: `destroyed ${names.join(', ') || `cluster ${cluster}`}\n` };
  },
});
