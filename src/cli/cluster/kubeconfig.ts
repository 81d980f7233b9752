// `firstlight kubeconfig`
import { delimiter, join } from 'node:path';
import { flag } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const kubeconfigVerb = defineVerb({
  options: { merge: flag('--merge', 'add the cluster to $KUBECONFIG or ~/.kube/config, and make it current') },
  examples: ['export KUBECONFIG=$(firstlight kubeconfig)', 'firstlight kubeconfig --merge'],
  run: async ({ host, global, options }) => {
    const { kubeconfigFile } = await import('../../cluster/cluster-kubeconfig.ts');
    const path = await kubeconfigFile(host, global.dir);
    if (!options.merge) return { data: { path }, text: `${path}\n` };
    const { mustFindCluster } = await import('../../cluster/find-cluster.ts');
    const { mergeKubeconfig } = await import('../../cluster/merge-kubeconfig.ts');
    const { name } = await mustFindCluster(host, global.dir);
    const { variables, homeFolder } = host.environment;
    const [first = ''] = (variables['KUBECONFIG'] ?? '').split(delimiter);
    const into = first === '' ? join(homeFolder, '.kube/config') : first;
    await mergeKubeconfig(host, { from: path, into, name });
    return { data: { path, into, context: name }, text: `${into} has the context ${name}, and it is current\n` };
  },
});
