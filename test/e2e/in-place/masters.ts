// All masters in place, one after the other: each of them runs a part of etcd and of the API, and one of them the controller
// that changes them. The API takes writes all the time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesClient } from '../../../src/kubernetes/client.ts';
import { note } from '../fire/figures.ts';
import { masters } from '../fire/fire-cluster.ts';
import { type Load, startLoad } from '../fire/load-report.ts';
import {
  applyMachineConfig,
  applyObjects,
  type ConfigCluster,
  disruptionPolicies,
  eventuallySeen,
  goodEnd,
  nodeSights,
  poolSight,
  removeMachineConfigs,
  rollOut,
  withApi,
} from '../machine-config/config-lab.ts';
import { type NodeWatch, rebootsOf, watchNodes } from '../machine-config/node-watch.ts';
import { cli, inside } from '../machine-lab.ts';
import { attemptsOf, inPlaceFile, setPaused } from './in-place-lab.ts';

const name = '61-proof-in-place-masters';
/** Of its own: what an earlier load wrote is nothing that a watch of this one could see come. */
const namespace = 'load-beside-masters';

export function inPlaceMastersTopic(cluster: ConfigCluster): void {
  let load: Load | undefined;
  let watch: NodeWatch | undefined;
  let target = '';

  beforeAll(async () => {
    const before = await withApi(cluster, (api) => poolSight(api, 'master'));
    await setPaused(cluster, true, 'master');
    await applyObjects(cluster, disruptionPolicies());
    await applyMachineConfig(cluster, {
      name,
      role: 'master',
      files: [{ path: inPlaceFile('masters'), text: 'masters\n' }],
    });
    target = await eventuallySeen(cluster, { what: 'another target of the masters', seconds: 20 }, async (api) => {
      const { target: now } = await poolSight(api, 'master');
      return now === before.target ? undefined : now;
    });
    load = startLoad({ kubeconfig: `${cluster.dir}/auth/kubeconfig`, writesPerSecond: 20, watches: 10, namespace });
    watch = watchNodes(cluster, masters);
  });

  afterAll(async () => {
    load?.kill();
    await withApi(cluster, (api) => api.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace }));
    await setPaused(cluster, false, 'master');
    await rollOut(cluster, { pool: 'master', seconds: 120 }, () => removeMachineConfigs(cluster, name));
  });

  test('every master has the new configuration, each rebooted once, one at a time', async () => {
    const startMs = performance.now();
    await cli('ipb', 'start', '--pool', 'master', '--max-concurrent', '3', '--dir', cluster.dir);
    note('three masters in place', startMs);
    const story = await watch?.end();
    if (story === undefined) throw new Error('nobody watched');
    expect(masters.map((master) => rebootsOf(story, master))).toEqual([1, 1, 1]);
    const away = await withApi(cluster, (api) => Promise.all(masters.map((master) => awayOf(api, master))));
    const sorted = away.toSorted((one, other) => one.fromMs - other.fromMs);
    expect(sorted.every(({ fromMs }, index) => fromMs >= (sorted[index - 1]?.toMs ?? 0))).toBe(true);
    const nodes = await withApi(cluster, (api) => nodeSights(api, masters));
    expect(nodes).toMatchObject(masters.map((master) => ({ name: master, ...goodEnd(target) })));
    for (const master of masters) {
      expect(await inside(cluster.infraId(), master, `cat ${inPlaceFile('masters')}`)).toBe('masters\n');
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

  test('all three vote', async () => {
    const status = JSON.parse(await cli('status', '--dir', cluster.dir, '-o', 'json')) as { etcdVoters: string[] };
    expect(status.etcdVoters).toEqual(masters);
  });
}

/** From the stop of its kubelet until it was Ready again, by the record of its last attempt. */
async function awayOf(
  api: KubernetesClient,
  master: string,
): Promise<{ readonly fromMs: number; readonly toMs: number }> {
  const history = (await attemptsOf(api, master)).at(-1)?.status.history ?? [];
  const at = (phase: string): number => Date.parse(history.find((entry) => entry.phase === phase)?.at ?? '');
  return { fromMs: at('KubeletStopped'), toMs: at('Restoring') };
}
