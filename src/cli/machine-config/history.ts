// `firstlight machine-config history`
import { optionalArgument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const machineConfigHistoryVerb = defineVerb({
  description: [
    'Shows the last twenty configurations of each pool, the newest first: when its nodes began to change, how long it',
    'took until all of them had it, and what came or went among its MachineConfigs since the one before.',
  ].join(' '),
  args: { pool: optionalArgument('only this pool') },
  examples: ['firstlight machine-config history', 'firstlight machine-config history worker -o json'],
  run: async ({ host, global, signal, args }) => {
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { findPools, poolViewNamed } = await import('../../cluster/pools/observe-pools.ts');
    const { historyText } = await import('./pool-text.ts');
    await using client = await connectCluster(host, global.dir);
    const all = await findPools({ host, client, signal });
    const chosen = args.pool === undefined ? all : [poolViewNamed(all, args.pool)];
    const data = chosen.map(({ name, to, history }) => ({ pool: name, target: to, history }));
    return { data: { pools: data }, text: historyText(chosen) };
  },
});
