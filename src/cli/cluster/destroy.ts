// `firstlight destroy cluster | bootstrap`
import { z } from 'zod';
import { destroyBootstrap, destroyWholeCluster } from '../../cluster/destroy.ts';
import type { CommandBody } from '../frame/verb.ts';

export const destroyClusterCommand: CommandBody = async (invocation) => {
  const destroyed = await destroyWholeCluster(invocation, invocation.global.dir);
  const { cluster, machines } = destroyed;
  const text =
    machines.length === 0 ? `nothing was left of ${cluster}` : `destroyed ${cluster}: ${machines.join(', ')}`;
  return { data: destroyed, text: `${text}\n` };
};

export const destroyBootstrapCommand: CommandBody = async (invocation) => {
  const { force } = z.looseObject({ force: z.boolean().default(false) }).parse(invocation.options);
  const destroyed = await destroyBootstrap(invocation, invocation.global.dir, { isForced: force });
  const text = destroyed.machines.length === 0 ? 'there is no bootstrap machine' : 'destroyed the bootstrap machine';
  return { data: destroyed, text: `${text}\n` };
};
