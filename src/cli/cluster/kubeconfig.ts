// `firstlight kubeconfig`: where it is, or into the person's own.
import { delimiter, join } from 'node:path';
import { z } from 'zod';
import { mustFindCluster } from '../../cluster/find-cluster.ts';
import { kubeconfigFile } from '../../cluster/cluster-kubeconfig.ts';
import { mergeKubeconfig } from '../../cluster/merge-kubeconfig.ts';
import type { CommandBody } from '../frame/verb.ts';

export const kubeconfigCommand: CommandBody = async ({ host, global, options }) => {
  const { merge } = z.looseObject({ merge: z.boolean().default(false) }).parse(options);
  const path = await kubeconfigFile(host, global.dir);
  if (!merge) return { data: { path }, text: `${path}\n` };
  const { name } = await mustFindCluster(host, global.dir);
  const { variables, homeFolder } = host.environment;
  const [first = ''] = (variables['KUBECONFIG'] ?? '').split(delimiter);
  const into = first === '' ? join(homeFolder, '.kube/config') : first;
  await mergeKubeconfig(host, { from: path, into, name });
  return { data: { path, into, context: name }, text: `${into} has the context ${name}, and it is current\n` };
};
