// `firstlight machine reboot`
import { ableTo } from '../../platform/platform.ts';
import { defineVerb } from '../frame/verb.ts';
import { allMachinesOption, bootOptions, clusterOption, machineNames } from './options.ts';

export const machineRebootVerb = defineVerb({
  args: { names: machineNames },
  options: { all: allMachinesOption, cluster: clusterOption, ...bootOptions },
  examples: ['firstlight machine reboot a'],
  run: async (invocation) => {
    const { chosenCluster, chosenMachines, tableAfterBoot } = await import('./chosen-machines.ts');
    const chosen = await chosenCluster(invocation);
    const names = await chosenMachines(invocation, chosen);
    await ableTo(chosen.platform, 'rebootMachines')(invocation, chosen.cluster, names);
    return tableAfterBoot(invocation, chosen, names);
  },
});
