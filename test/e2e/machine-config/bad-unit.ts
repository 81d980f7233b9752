// A unit that does not start: the machine that tried it goes back to what it had and says why, no other machine tries, and
// a rollback brings the pool back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli, inside } from '../machine-lab.ts';
import {
  applyMachineConfig,
  type ConfigCluster,
  eventuallySeen,
  type NodeSight,
  nodeSights,
  poolSight,
  removeMachineConfigs,
  untilRolledOut,
  withApi,
  workers,
} from './config-lab.ts';

const name = '70-proof-bad-unit';
const unit = 'proof-bad.service';
const file = '/etc/proof/live/beside-the-bad-unit';

export function badUnitTopic(cluster: ConfigCluster): void {
  let good = '';
  let bad = '';
  let victim: NodeSight;

  beforeAll(async () => {
    good = (await withApi(cluster, (api) => poolSight(api, 'worker'))).target;
    await applyMachineConfig(cluster, {
      name,
      files: [{ path: file, text: 'new\n' }],
      units: [
        {
          name: unit,
          enabled: true,
          contents: '[Service]\nType=oneshot\nExecStart=/bin/false\n[Install]\nWantedBy=multi-user.target\n',
        },
      ],
    });
  });

  afterAll(async () => {
    await removeMachineConfigs(cluster, name);
    await untilRolledOut(cluster, { seconds: 60, insteadOf: bad });
  });

  test('degrades one worker, which names the unit and has its old configuration', async () => {
    victim = await eventuallySeen(cluster, { what: 'a worker that went back', seconds: 30 }, async (api) =>
      (await nodeSights(api, workers)).find(({ state, isChanging }) => state === 'Degraded' && !isChanging),
    );
    bad = victim.desired;
    expect(victim).toMatchObject({ current: good, reason: expect.stringContaining(unit) });
    expect(bad).not.toBe(good);
    const left = `ls ${file} /etc/systemd/system/${unit} 2>/dev/null; systemctl is-failed ${unit}`;
    expect(await inside(cluster.infraId(), victim.name, `${left} || true`)).toBe('inactive\n');
  });

  test('stops the pool: the other worker was never asked, and the pool says who is in the way', async () => {
    const { conditions, target } = await eventuallySeen(cluster, { what: 'NodeDegraded', seconds: 10 }, async (api) => {
      const sight = await poolSight(api, 'worker');
      return sight.conditions['NodeDegraded'] === undefined ? undefined : sight;
    });
    expect(target).toBe(bad);
    expect(conditions['NodeDegraded']).toContain(victim.name);
    expect(conditions['NodeDegraded']).toContain(unit);
    expect(conditions['Degraded']).toBeDefined();
    const [other] = (await withApi(cluster, (api) => nodeSights(api, workers))).filter((n) => n.name !== victim.name);
    expect(other).toMatchObject({ current: good, desired: good, state: 'Done', isAvailable: true });
  });

  test('a rollback brings every worker to what it had, and keeps it there', async () => {
    await cli('machine-config', 'rollback', 'worker', '--yes', '--dir', cluster.dir);
    const pool = await untilRolledOut(cluster, { seconds: 30, insteadOf: bad });
    expect(pool.target).toBe(good);
    const nodes = await withApi(cluster, (api) => nodeSights(api, workers));
    expect(nodes.map(({ current, state, reason, isAvailable }) => ({ current, state, reason, isAvailable }))).toEqual(
      workers.map(() => ({ current: good, state: 'Done', reason: '', isAvailable: true })),
    );
    const told = JSON.parse(await cli('machine-config', 'history', 'worker', '-o', 'json', '--dir', cluster.dir)) as {
      pools: readonly { history: readonly { name: string; state: string }[] }[];
    };
    expect(told.pools[0]?.history.slice(0, 2)).toMatchObject([
      { name: good, state: 'Done' },
      { name: bad, state: 'Replaced' },
    ]);
  });
}
