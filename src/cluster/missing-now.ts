// What is missing in a cluster, one sentence per machine, in the machines' own words. Those that only wait for others come
// first, the bootstrap machine, which waits for all of them, last.
import { stageTitle } from './bootstrap-phase.ts';
import { withoutAmounts } from '../screen/frame.ts';
import { inShort, isSettled, machineWords } from './machine-words.ts';
import type { ClusterSight } from './observe-cluster.ts';

export function missingNow({ bootstrap, machines }: ClusterSight): readonly string[] {
  const others = machines.filter((machine) => machine.role !== 'bootstrap' && !isSettled(machine));
  const first = machines.find(({ role }) => role === 'bootstrap');
  return [
    ...others.map((machine) => `${machine.name}: ${machineWords(machine)}`),
    ...(first === undefined ? [] : [`${first.name}: ${bootstrapWords(bootstrap) ?? first.story}`]),
  ];
}

/** Undefined while the bootstrap machine has not said anything. */
export function bootstrapWords(progress: ClusterSight['bootstrap']): string | undefined {
  return progress && inShort([stageTitle(progress.stage), ...progress.missing].join(': '));
}

/**
 * What counts as movement: words, not amounts. A first boot that asks again and again in vain does not move, whatever it
 * meets each time.
 */
export function movements({ bootstrap, machines }: ClusterSight): readonly string[] {
  return [
    ...machines.flatMap(({ name, firstBoot, agent }) => [
      `${name} ${firstBoot?.phase ?? ''}`,
      ...(agent?.duties ?? []).map((duty) => `${name} ${duty.name} ${duty.status} ${duty.missing.join()}`),
    ]),
    bootstrapWords(bootstrap) ?? '',
  ].map(withoutAmounts);
}
