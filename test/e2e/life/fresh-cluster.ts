// A cluster that `create cluster` has just made: who is in it, how etcd grew, what is left of the bootstrap.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Waterfall } from '../../../src/waterfall/waterfall-rows.ts';
import { masters } from '../fire/fire-cluster.ts';
import { voterCounts } from '../fire/member-history.ts';
import { cli, list } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';
import { everybody, readyNodes } from './ready-nodes.ts';

export function freshClusterTopic(cluster: TrustCluster): void {
  test('has three masters and a worker, all Ready, and no bootstrap machine', async () => {
    expect(await readyNodes(cluster)).toEqual(everybody);
    expect((await list(cluster.infraId())).map(({ name }) => name).sort()).toEqual(everybody);
  });

  test('status --waterfall tells where the time went, also on the bootstrap machine that is gone', async () => {
    const text = await cli('status', '--waterfall', '--dir', cluster.dir, '-o', 'json');
    const { groups } = JSON.parse(text) as Waterfall;
    expect(groups.map(({ name }) => name)).toEqual(['create cluster', 'bootstrap', ...everybody, 'load balancer']);
    const unfinished = groups
      .filter(({ name }) => name !== 'load balancer')
      .flatMap(({ name, rows }) =>
        rows.filter(({ toMs }) => toMs === undefined).map(({ label }) => `${name}: ${label}`),
      );
    expect(unfinished).toEqual([]);
    for (const { rows } of groups) expect(rows.length).toBeGreaterThan(5);
  });

  test('etcd grew one voter at a time, and the bootstrap member left last', async () => {
    const histories = await Promise.all(
      masters.map(async (master) =>
        voterCounts(await trustKubectl(cluster, 'logs', '-n', 'kube-system', `etcd-${master}`)),
      ),
    );
    // Whoever joined first saw the most; the others begin with a snapshot of what was before.
    const longest = histories.reduce((a, b) => (b.length > a.length ? b : a));
    expect([1, 2, 3, 4, 3].join()).toContain(longest.join());
    expect(longest.slice(-2)).toEqual([4, 3]);
  });

  test('the API has the configuration of the cluster, and what machines were given, for people to read', async () => {
    const rows = (...kinds: readonly string[]): Promise<string> =>
      trustKubectl(cluster, 'get', kinds.join(','), '--no-headers');
    const domain = JSON.parse(readFileSync(join(cluster.dir, 'metadata.json'), 'utf8')) as { clusterName: string };
    const group = 'config.openshift.io';
    const configuration = await rows('infrastructures', `networks.${group}`, 'dnses', `ingresses.${group}`);
    expect(configuration).toMatch(/^infrastructure\S+\/cluster +local +HighlyAvailable +https:\/\/api\./m);
    expect(configuration).toMatch(/^network\S+\/cluster +Firstlight +10\.128\.0\.0\/14 +172\.30\.0\.0\/16/m);
    expect(configuration).toMatch(new RegExp(`^dns\\S+/cluster +${domain.clusterName}\\.`, 'm'));
    expect(configuration).toMatch(new RegExp(`^ingress\\S+/cluster +apps\\.${domain.clusterName}\\.`, 'm'));
    const more = await rows('proxies', 'apiservers', 'oauths', 'schedulers', 'clusterversion');
    expect(more.match(/^\S+\/cluster /gm)).toHaveLength(4);
    expect(more).toMatch(/^clusterversion\S+\/version +\S+ +True +False /m);
    const machines = await rows('mc', 'mcp');
    for (const role of ['master', 'worker']) {
      expect(machines).toMatch(new RegExp(`^machineconfig\\S+/rendered-${role}-\\S+ `, 'm'));
      expect(machines).toMatch(new RegExp(`^machineconfigpool\\S+/${role} +rendered-${role}-\\S+ +True `, 'm'));
    }
  });

  test('has no token left with which a machine could join', async () => {
    const selector = 'type=bootstrap.kubernetes.io/token';
    const { items } = await trustKubectlJson<{ items: readonly unknown[] }>(
      cluster,
      'get',
      'secrets',
      '-n',
      'kube-system',
      `--field-selector=${selector}`,
    );
    expect(items).toEqual([]);
  });

  test('is said to be complete, quickly, when it is asked for again', async () => {
    const startMs = performance.now();
    expect(await cli('create', 'cluster', '--dir', cluster.dir)).toContain('4 nodes Ready, nothing to do');
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });
}
