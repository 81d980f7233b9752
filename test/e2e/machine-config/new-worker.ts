// A worker that joins: it says which configuration it has before anybody asks, and the pool counts it.
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FirstBootStatus } from '../../../src/contract/first-boot-status.ts';
import { daemonFiles } from '../../../src/contract/machine-config-node.ts';
import { isLong } from '../fire/long.ts';
import { cli, eventually, inside, startCli } from '../machine-lab.ts';
import {
  type ConfigCluster,
  cutPower,
  eventuallySeen,
  leaderOfMachine,
  nodeSights,
  pause,
  poolSight,
  workers,
} from './config-lab.ts';

/** From before Ignition has fetched anything until the kubelet is about to start. */
const cutsAfterMs = [150, 400, 700, 1_000, 1_400];
const newcomer = 'worker-2';

export function newWorkerTopic(cluster: ConfigCluster): void {
  beforeAll(async () => {
    await cli('node', 'add', 'worker-1', '--dir', cluster.dir);
  });

  test('every worker has the configuration of its pool and is Done, with nothing rolled out', async () => {
    const nodes = await eventuallySeen(cluster, { what: 'that both workers are Done', seconds: 20 }, async (api) => {
      const sights = await nodeSights(api, workers);
      const { target, conditions } = await poolSight(api, 'worker');
      const isDone = sights.every(({ state, current, desired }) => state === 'Done' && current === desired);
      return isDone && conditions['Updated'] !== undefined ? { sights, target } : undefined;
    });
    expect(nodes.sights.map(({ name, current }) => [name, current])).toEqual(workers.map((w) => [w, nodes.target]));
  });

  test('its first boot is complete, and its disk says what it has', async () => {
    const { encapsulated, encapsulatedDone, nodeAnnotations, nodeAnnotationsDone, currentConfig } = daemonFiles;
    const begun = `ls ${encapsulated} ${nodeAnnotations} 2>/dev/null | wc -l`;
    const done = `ls ${encapsulatedDone} ${nodeAnnotationsDone} ${currentConfig} | wc -l`;
    for (const worker of workers) {
      expect(await inside(cluster.infraId(), worker, `${begun}; ${done}`)).toBe('0\n3\n');
    }
  });

  describe.runIf(isLong)('17: one whose power is cut in its first boot', () => {
    afterEach(async () => {
      await cli('node', 'remove', newcomer, '--dir', cluster.dir);
    });

    test.each(cutsAfterMs)('after %i ms ends as any other, and no kubelet ran before', async (ms) => {
      const adding = startCli(['node', 'add', newcomer, '--dir', cluster.dir]);
      await eventually(`process 1 of ${newcomer}`, 30, async () => leaderOfMachine(cluster, newcomer));
      await pause(ms);
      await cutPower(cluster, newcomer);
      // Whoever sees the machine go may end; the same command goes on.
      if ((await adding.outcome).code !== 0) await cli('node', 'add', newcomer, '--dir', cluster.dir);
      const done = await eventuallySeen(cluster, { what: `that ${newcomer} is Done`, seconds: 30 }, async (api) =>
        (await nodeSights(api, [newcomer])).find(({ state }) => state === 'Done'),
      );
      expect(done).toMatchObject({ isAvailable: true, reason: '' });
      const look = 'cat /var/lib/firstlight/first-boot.json; journalctl --unit=kubelet --output=short-unix | head -n 1';
      const [status = '', first = ''] = (await inside(cluster.infraId(), newcomer, look)).split('\n');
      const { updatedAt, phase } = JSON.parse(status) as FirstBootStatus;
      expect(phase).toBe('done');
      expect(Number.parseFloat(first) * 1000).toBeGreaterThanOrEqual(new Date(updatedAt).getTime());
    });
  });
}
