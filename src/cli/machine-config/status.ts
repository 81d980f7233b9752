// `firstlight machine-config status`
import { waitOptions } from '../cluster/wait-options.ts';
import { flag, optionalArgument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const machineConfigStatusVerb = defineVerb({
  description: [
    'Shows per pool which configuration its nodes have and which they are to have, and per node in which phase of the',
    'change it is and what it waits for: the pod and the disruption budget in the way of a drain, the file that was',
    'changed by hand, the unit that does not start. --watch shows it until every pool has what it is to have.',
  ].join(' '),
  args: { pool: optionalArgument('only this pool') },
  options: { watch: flag('--watch', 'follow the roll-out until it is over'), ...waitOptions },
  examples: [
    'firstlight machine-config status',
    'firstlight machine-config status worker --watch',
    'firstlight machine-config status -o json',
  ],
  run: async (invocation) => {
    const { host, global, signal, args, options } = invocation;
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { findPools, poolViewNamed } = await import('../../cluster/pools/observe-pools.ts');
    const { poolsText } = await import('./pool-text.ts');
    await using client = await connectCluster(host, global.dir);
    const all = await findPools({ host, client, signal });
    const chosen = args.pool === undefined ? all : [poolViewNamed(all, args.pool)];
    if (!options.watch) return { data: { pools: chosen }, text: poolsText(chosen) };
    const { followRollOut } = await import('./follow-roll-out.ts');
    const seen = await followRollOut(invocation, {
      client,
      title: 'machine configuration',
      pools: new Map(chosen.map(({ name, to }) => [name, { before: null, expected: to ?? '' }])),
      command: `machine-config status${args.pool === undefined ? '' : ` ${args.pool}`} --watch`,
    });
    return { data: { pools: seen }, text: poolsText(seen) };
  },
});
