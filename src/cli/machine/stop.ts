// `firstlight machine stop`
import { ableTo } from '../../platform/platform.ts';
import { defineVerb } from '../frame/verb.ts';
import { allMachinesOption, clusterOption, machineNames } from './options.ts';

export const machineStopVerb = defineVerb({
  args: { names: machineNames },
  options: { all: allMachinesOption, cluster: clusterOption },
  examples: ['firstlight machine stop a b', 'firstlight machine stop --all'],
  run: async (invocation) => {
    const { chosenCluster, chosenMachines, listedMachines } = await import('./chosen-machines.ts');
    const chosen = await chosenCluster(invocation);
    const names = await chosenMachines(invocation, chosen);
    await ableTo(chosen.platform, 'stopMachines')(invocation, chosen.cluster, names);
    return listedMachines(chosen, names);
  },
});
