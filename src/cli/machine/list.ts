// `firstlight machine list`
import { z } from 'zod';
import { listClusters } from '../../platform/local/local-cluster.ts';
import { listMachines } from '../../platform/local/local-platform.ts';
import type { CommandBody } from '../frame/verb.ts';
import { chosenCluster } from './machine-choice.ts';
import { machineTable } from './machine-table.ts';

export const machineList: CommandBody = async (invocation) => {
  const { host } = invocation;
  const { allClusters } = z.looseObject({ allClusters: z.boolean().default(false) }).parse(invocation.options);
  const clusters = allClusters ? await listClusters(host) : [await chosenCluster(invocation)];
  const lists = clusters.map(async (cluster) =>
    (await listMachines(host, cluster)).map((machine) => ({ ...machine, cluster })),
  );
  return machineTable((await Promise.all(lists)).flat());
};
