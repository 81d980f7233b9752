// A change that needs a reboot, on two workers, while somebody uses what runs on them: one worker after the other, each
// rebooted once, and no request lost.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { note } from '../fire/figures.ts';
import { inside } from '../machine-lab.ts';
import {
  applyMachineConfig,
  type ConfigCluster,
  goodEnd,
  nodeSights,
  poolSight,
  reloadedFile,
  rollOut,
  withApi,
  workers,
} from './config-lab.ts';
import { type NodeWatch, rebootsOf, watchNodes } from './node-watch.ts';
import { deployWeb, removeWeb, startWebClient, type WebClient } from './web-load.ts';

export const rebootFile = '/etc/proof/needs-a-reboot.conf';

export function rebootRolloutTopic(cluster: ConfigCluster): void {
  let client: WebClient | undefined;
  let watch: NodeWatch | undefined;

  beforeAll(async () => {
    const url = await deployWeb(cluster);
    client = startWebClient(cluster, 'master-0', { url, perSecond: 20 });
    watch = watchNodes(cluster, workers);
  });

  afterAll(async () => {
    client?.kill();
    await removeWeb(cluster);
  });

  test('reaches every worker, and every worker is in use again', async () => {
    const startMs = performance.now();
    // Of a file with a policy and one without, together: one reboot does for both.
    await rollOut(cluster, { seconds: 90 }, () =>
      applyMachineConfig(cluster, {
        name: '60-proof-reboot',
        files: [
          { path: rebootFile, text: 'after a reboot\n' },
          { path: reloadedFile, text: '{"default":"accept"}' },
        ],
      }),
    );
    note('a roll-out with a reboot to two workers', startMs);
    const { pool, nodes } = await withApi(cluster, async (api) => ({
      pool: await poolSight(api, 'worker'),
      nodes: await nodeSights(api, workers),
    }));
    expect(nodes).toMatchObject(workers.map((name) => ({ name, ...goodEnd(pool.target) })));
    for (const worker of workers) {
      expect(await inside(cluster.infraId(), worker, `cat ${rebootFile} ${reloadedFile}`)).toBe(
        'after a reboot\n{"default":"accept"}',
      );
    }
  });

  test('each worker booted once, and at most one was away at a time', async () => {
    const story = await watch?.end();
    if (story === undefined) throw new Error('nobody watched');
    expect(workers.map((worker) => rebootsOf(story, worker))).toEqual([1, 1]);
    expect(story.disturbed).toEqual(workers);
    expect(story.mostUnavailable).toBe(1);
  });

  test('21: the boot was the only thing that happened to the unit of the other file', async () => {
    for (const worker of workers)
      expect(await inside(cluster.infraId(), worker, 'ls /run/proof-reloads 2>/dev/null || echo none')).toBe('none\n');
  });

  test('a client at 20 requests a second had every answer, with one retry at most', async () => {
    const report = await client?.end();
    expect(report?.failed).toEqual([]);
    expect(report?.answered).toBe(report?.asked);
    expect(report?.answered).toBeGreaterThan(100);
    // Both pods moved, one of them twice.
    expect(report?.answeredBy.length).toBeGreaterThanOrEqual(4);
  });
}
