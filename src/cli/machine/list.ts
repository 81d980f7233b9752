// `firstlight machine list`
import { flag } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { clusterOption } from './options.ts';

export const machineListVerb = defineVerb({
  options: {
    cluster: clusterOption,
    allClusters: flag('--all-clusters', 'machines of every cluster on this host'),
    disk: flag('--disk', 'also what each machine takes of the disk; looks at all its files'),
  },
  examples: [
    'firstlight machine list',
    'firstlight machine list --disk',
    'firstlight machine list --all-clusters -o json',
  ],
  run: async (invocation) => {
    const { chooseMachinePlatform } = await import('../../platform/choose-platform.ts');
    const { chosenCluster, listMachinesOf, machineTable } = await import('./chosen-machines.ts');
    const { allClusters, disk } = invocation.options;
    if (!allClusters) return machineTable(await listMachinesOf(await chosenCluster(invocation), { disk }));
    const platform = chooseMachinePlatform(invocation.host);
    const lists = (await platform.clusterNames()).map((cluster) => listMachinesOf({ platform, cluster }, { disk }));
    return machineTable((await Promise.all(lists)).flat());
  },
});
