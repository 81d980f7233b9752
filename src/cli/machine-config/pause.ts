// `firstlight machine-config pause` and `firstlight machine-config resume`
import type { PoolView } from '../../pool-rollout/pool-view.ts';
import { defineVerb, type Invocation } from '../frame/verb.ts';
import { poolArgument } from './options.ts';

export const machineConfigPauseVerb = defineVerb({
  description: [
    'While a pool is paused no further node of it is changed. A node that has begun finishes. MachineConfigs are still',
    'rendered, new machines boot with the newest configuration, and certificates are renewed as always.',
  ].join(' '),
  args: { pool: poolArgument },
  examples: ['firstlight machine-config pause worker', 'firstlight machine-config resume worker'],
  run: async (invocation) => {
    const pool = await changePaused(invocation, true);
    const moving = pool.nodes.filter(({ phase }) => phase !== 'done' && phase !== 'queued').map(({ name }) => name);
    const finishing = moving.length === 0 ? '' : `, and what has begun is finished on ${moving.join(', ')}`;
    return {
      data: { pool: pool.name, isPaused: true, finishing: moving },
      text: `${pool.name} is paused${finishing}\n`,
    };
  },
});

export const machineConfigResumeVerb = defineVerb({
  description: 'Lets the nodes of a pool go on to its newest configuration, in their order.',
  args: { pool: poolArgument },
  examples: ['firstlight machine-config resume worker', 'firstlight machine-config status worker --watch'],
  run: async (invocation) => {
    const pool = await changePaused(invocation, false);
    const behind = pool.nodes.filter(({ phase }) => phase !== 'done').map(({ name }) => name);
    const next =
      behind.length === 0 ? 'and all its nodes have what they are to have' : `to change: ${behind.join(', ')}`;
    return { data: { pool: pool.name, isPaused: false, behind }, text: `${pool.name} goes on, ${next}\n` };
  },
});

/** The pool as it was a moment before. */
async function changePaused(
  { host, global, signal, args }: Invocation<{ readonly pool: string }>,
  isPaused: boolean,
): Promise<PoolView> {
  const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
  const { setPaused } = await import('../../cluster/pools/change-pools.ts');
  const { findPools, poolViewNamed } = await import('../../cluster/pools/observe-pools.ts');
  await using client = await connectCluster(host, global.dir);
  const call = { host, client, signal };
  const pool = poolViewNamed(await findPools(call), args.pool);
  if (pool.isPaused !== isPaused) await setPaused(call, pool.name, isPaused);
  return pool;
}
