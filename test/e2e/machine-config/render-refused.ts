// A MachineConfig that this platform cannot honour: the pool says which one it is, and nothing moves.
import { afterAll, expect, test } from 'vitest';
import {
  applyMachineConfig,
  type ConfigCluster,
  eventuallySeen,
  nodeSights,
  poolSight,
  removeMachineConfigs,
  withApi,
  workers,
} from './config-lab.ts';

const guilty = '75-proof-disks';
const innocent = '76-proof-innocent';

export function renderRefusedTopic(cluster: ConfigCluster): void {
  afterAll(async () => {
    await removeMachineConfigs(cluster, guilty, innocent);
  });

  test('14: disks for a machine that exists are refused by the name of their MachineConfig, and it is over without it', async () => {
    const before = await withApi(cluster, (api) => poolSight(api, 'worker'));
    const disks = [{ device: '/dev/vdb', wipeTable: true }];
    await applyMachineConfig(cluster, { name: guilty, storage: { disks } });
    await applyMachineConfig(cluster, {
      name: innocent,
      files: [{ path: '/etc/proof/live/innocent', text: 'waits\n' }],
    });
    const refused = await eventuallySeen(cluster, { what: 'RenderDegraded', seconds: 10 }, async (api) => {
      const sight = await poolSight(api, 'worker');
      return sight.conditions['RenderDegraded'] === undefined ? undefined : sight;
    });
    expect(refused.conditions['RenderDegraded']).toContain(guilty);
    expect(refused.conditions['RenderDegraded']).not.toContain(innocent);
    expect(refused.conditions['Degraded']).toBeDefined();
    expect(refused.target).toBe(before.target);
    const nodes = await withApi(cluster, (api) => nodeSights(api, workers));
    expect(nodes.map(({ current, desired, state }) => [current, desired, state])).toEqual(
      workers.map(() => [before.target, before.target, 'Done']),
    );
    await removeMachineConfigs(cluster, guilty, innocent);
    await eventuallySeen(cluster, { what: 'the end of RenderDegraded', seconds: 10 }, async (api) => {
      const sight = await poolSight(api, 'worker');
      return sight.conditions['RenderDegraded'] === undefined && sight.target === before.target ? true : undefined;
    });
  });
}
