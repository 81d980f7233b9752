// `firstlight machine list`
import { flag } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { clusterOption } from './options.ts';

export const machineListVerb = defineVerb({
  options: {
    cluster: clusterOption,
    allClusters: flag('--all-clusters', 'machines of every cluster on this host'),
  },
  examples: ['firstlight machine list', 'firstlight machine list --all-clusters -o json'],
  run: async (invocation) => {
    const { chooseMachinePlatform } = await import('../../platform/choose-platform.ts');
    const { chosenCluster, listMachinesOf, machineTable } = await import('./chosen-machines.ts');
    if (!invocation.options.allClusters) return machineTable(await listMachinesOf(await chosenCluster(invocation)));
    const platform = chooseMachinePlatform(invocation.host);
    const lists = (await platform.clusterNames()).map((cluster) => listMachinesOf({ platform, cluster }));
    return machineTable((await Promise.all(lists)).flat());
  },
});
