// A pool of the user's own: a machine joins it with one command, has its configuration from its first boot on, and follows it
// alone.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { apiVersion, roleLabel } from '../../../src/machine-config/machine-config.ts';
import { cli, inside } from '../machine-lab.ts';
import {
  applyMachineConfig,
  applyObjects,
  type ConfigCluster,
  eventuallySeen,
  goodEnd,
  liveFolder,
  nodeSights,
  poolReference,
  poolSight,
  removeMachineConfigs,
  rollOut,
  withApi,
  workers,
} from './config-lab.ts';

const machine = 'infra-0';
const name = '50-proof-infra';
const file = `${liveFolder}/infra.conf`;

const pool: KubernetesObject = {
  apiVersion,
  kind: 'MachineConfigPool',
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: roleLabel, operator: 'In', values: ['worker', 'infra'] }] },
    nodeSelector: { matchLabels: { 'node-role.kubernetes.io/infra': '' } },
  },
};

const config = (text: string) => ({ name, role: 'infra', files: [{ path: file, text }] });

export function customPoolTopic(cluster: ConfigCluster): void {
  beforeAll(async () => {
    await applyMachineConfig(cluster, config('infra\n'));
    await applyObjects(cluster, pool);
    await eventuallySeen(cluster, { what: 'a configuration of the pool infra', seconds: 20 }, async (api) =>
      (await poolSight(api, 'infra')).sources.includes(name) ? true : undefined,
    );
    await cli('node', 'add', machine, '--pool', 'infra', '--dir', cluster.dir);
  });

  afterAll(async () => {
    await cli('node', 'remove', machine, '--dir', cluster.dir);
    await withApi(cluster, (api) => api.delete(poolReference('infra')));
    await removeMachineConfigs(cluster, name);
  });

  test('a machine has what its pool adds from its first boot on, and counts nowhere else', async () => {
    const seen = await eventuallySeen(cluster, { what: `that ${machine} is Done`, seconds: 20 }, async (api) => {
      const { target } = await poolSight(api, 'infra');
      const [node] = await nodeSights(api, [machine]);
      return node?.state === 'Done' ? { target, node } : undefined;
    });
    expect(seen.node).toMatchObject(goodEnd(seen.target));
    expect(await inside(cluster.infraId(), machine, `cat ${file}`)).toBe('infra\n');
    await eventuallySeen(cluster, { what: 'the counts of both pools', seconds: 20 }, async (api) => {
      const counts = await Promise.all(
        ['worker', 'infra'].map(async (each) => {
          const { status } = await api.get(poolReference(each));
          return (status as { machineCount?: number }).machineCount;
        }),
      );
      return counts.join() === `${workers.length},1` ? true : undefined;
    });
  });

  test('a change of its pool reaches it, and no worker', async () => {
    const before = await withApi(cluster, (api) => nodeSights(api, workers));
    await rollOut(cluster, { pool: 'infra', seconds: 30 }, () => applyMachineConfig(cluster, config('changed\n')));
    expect(await inside(cluster.infraId(), machine, `cat ${file}`)).toBe('changed\n');
    expect(await withApi(cluster, (api) => nodeSights(api, workers))).toEqual(before);
  });
}
