// `firstlight machine list`
import { z } from 'zod';
import { chooseMachinePlatform } from '../../platform/choose-platform.ts';
import type { CommandBody } from '../frame/verb.ts';
import { chosenCluster } from './machine-choice.ts';
import { listMachinesOf, machineTable } from './machine-table.ts';

export const machineList: CommandBody = async (invocation) => {
  const { allClusters } = z.looseObject({ allClusters: z.boolean().default(false) }).parse(invocation.options);
  if (!allClusters) return machineTable(await listMachinesOf(await chosenCluster(invocation)));
  const platform = chooseMachinePlatform(invocation.host);
  const lists = (await platform.clusterNames()).map((cluster) => listMachinesOf({ platform, cluster }));
  return machineTable((await Promise.all(lists)).flat());
};
