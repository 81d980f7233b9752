// The configuration of machines: what the release brings for the in-place bootstrapper, and how the pools are. Pools
// are moved by the agent of a master (pool-rollout/), which writes their conditions; this only tells.
import { inPlaceNamespace } from '../contract/in-place.ts';
import { machineConfigGroup } from '../contract/machine-config-node.ts';
import {
  machineConfigPoolKind,
  type PoolCondition,
  type PoolConditionType,
  readPoolStatus,
} from '../contract/machine-config-pool.ts';
import { inPlaceObjects } from '../in-place/manifests.ts';
import { machineConfigCrds } from '../machine-config/crds.ts';
import type { Operator, OperatorHealth, OperatorSight, Verdict } from './operator.ts';

export const machineConfigOperator: Operator = {
  name: 'machine-config',
  why: 'Every machine has the configuration of its pool, and a change reaches them one after the other.',
  level: 80,
  images: ['firstlight'],
  manifests: (image) => [
    { name: 'kinds', level: 5, objects: machineConfigCrds },
    { name: 'in-place', objects: inPlaceObjects(image('firstlight')) },
  ],
  looksAt: [machineConfigPoolKind],
  judge: judgePools,
  relatedObjects: [
    { group: machineConfigGroup, resource: 'machineconfigpools', name: 'master' },
    { group: machineConfigGroup, resource: 'machineconfigpools', name: 'worker' },
    { group: '', resource: 'namespaces', name: inPlaceNamespace },
  ],
};

interface SeenPool {
  readonly name: string;
  readonly counts: string;
  readonly condition: (type: PoolConditionType) => PoolCondition | undefined;
}

function judgePools(seen: OperatorSight): OperatorHealth {
  const pools = seen.objects(machineConfigPoolKind.kind).map((pool): SeenPool => {
    const { conditions, machineCount, updatedMachineCount } = readPoolStatus(pool);
    return {
      name: pool.metadata.name,
      counts: `${updatedMachineCount} of ${machineCount}`,
      condition: (type) => conditions.find((each) => each.type === type),
    };
  });
  return {
    available: availability(pools),
    progressing: movement(pools),
    degraded: degradation(pools),
    versions: { operator: seen.version },
  };
}

/** A pool whose configuration cannot be rendered gives new machines nothing. */
function availability(pools: readonly SeenPool[]): Verdict {
  if (pools.length === 0) return { isSo: false, reason: 'NoPools', message: 'there is no pool yet' };
  const broken = saying(pools, 'RenderDegraded');
  if (broken.length > 0) return { isSo: false, reason: 'NotRendered', message: broken.join('; ') };
  const unseen = pools.filter(({ condition }) => condition('Updated') === undefined);
  if (unseen.length > 0) {
    const names = unseen.map(({ name }) => name).join(', ');
    return { isSo: false, reason: 'NotLookedAt', message: `the pool controller has not looked at pool ${names} yet` };
  }
  const counts = pools.map(({ name, counts }) => `${name} ${counts}`).join(', ');
  return { isSo: true, reason: 'AsExpected', message: `machines with the configuration of their pool: ${counts}` };
}

function movement(pools: readonly SeenPool[]): Verdict {
  const moving = saying(pools, 'Updating');
  if (moving.length === 0) return { isSo: false, reason: 'AsExpected', message: 'no pool is rolled out' };
  return { isSo: true, reason: 'RollingOut', message: moving.join('; ') };
}

function degradation(pools: readonly SeenPool[]): Verdict {
  const broken = saying(pools, 'Degraded');
  if (broken.length === 0) return { isSo: false, reason: 'AsExpected', message: 'no pool is degraded' };
  return { isSo: true, reason: 'PoolDegraded', message: broken.join('; ') };
}

/** One sentence per pool where the condition is true. */
function saying(pools: readonly SeenPool[], type: PoolConditionType): readonly string[] {
  return pools.flatMap(({ name, counts, condition }) => {
    const found = condition(type);
    if (found?.status !== 'True') return [];
    return [`pool ${name}: ${found.message || `${type}, ${counts} machines have its configuration`}`];
  });
}
