// A change that needs a reboot of every master: one after the other, and the API takes writes all the time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdctl } from '../fire/etcd-oracle.ts';
import { note } from '../fire/figures.ts';
import { masters } from '../fire/fire-cluster.ts';
import { type Load, startLoad } from '../fire/load-report.ts';
import { cli, eventually, inside } from '../machine-lab.ts';
import { applyMachineConfig, type ConfigCluster, rollOut, withApi } from './config-lab.ts';
import { type NodeWatch, rebootsOf, watchNodes } from './node-watch.ts';

/** Of its own: what an earlier load wrote is nothing that a watch of this one could see come. */
const namespace = 'load-beside-roll-out';

export function masterRolloutTopic(cluster: ConfigCluster): void {
  let load: Load | undefined;
  let watch: NodeWatch | undefined;

  beforeAll(() => {
    load = startLoad({ kubeconfig: `${cluster.dir}/auth/kubeconfig`, writesPerSecond: 20, watches: 10, namespace });
    watch = watchNodes(cluster, masters);
  });

  afterAll(async () => {
    load?.kill();
    await withApi(cluster, (api) => api.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace }));
  });

  test('reaches every master, one at a time, each rebooted once', async () => {
    const startMs = performance.now();
    await rollOut(cluster, { pool: 'master', seconds: 240 }, () =>
      applyMachineConfig(cluster, {
        name: '60-proof-master-reboot',
        role: 'master',
        files: [{ path: '/etc/proof/master.conf', text: 'on masters\n' }],
      }),
    );
    note('a roll-out with a reboot to three masters', startMs);
    const story = await watch?.end();
    if (story === undefined) throw new Error('nobody watched');
    expect(masters.map((master) => rebootsOf(story, master))).toEqual([1, 1, 1]);
    expect(story.mostUnavailable).toBe(1);
    for (const master of masters) {
      expect(await inside(cluster.infraId(), master, 'cat /etc/proof/master.conf')).toBe('on masters\n');
    }
  });

  test('a writer at 20 writes a second lost nothing, with one retry at most', async () => {
    const report = await load?.end();
    expect({ lost: report?.lost, failed: report?.failed, missed: report?.missed }).toEqual({
      lost: [],
      failed: [],
      missed: [],
    });
    expect(report?.acknowledged).toBeGreaterThan(200);
  });

  test('all three vote, and are healthy in the words of etcdctl', async () => {
    const status = JSON.parse(await cli('status', '--dir', cluster.dir, '-o', 'json')) as { etcdVoters: string[] };
    expect(status.etcdVoters).toEqual(masters);
    for (const master of masters) {
      const asked = { dir: cluster.dir, infraId: cluster.infraId() };
      await eventually(`a healthy member of etcd on ${master}`, 20, async () =>
        (await etcdctl(asked, master, 'endpoint', 'health'))?.includes('is healthy') === true ? true : undefined,
      );
    }
  });
}
