// While etcd has two, three and four voters: partitions, a killed bootstrap member, masters that stand still. The gate
// before etcd keeps the cluster at each of these sizes for as long as a test needs. One cluster, tests in order.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../machine-lab.ts';
import { unansweredOf } from './api-probe.ts';
import type { EtcdGate } from './etcd-gate.ts';
import { etcdMachines, switchAddressOf } from './etcd-machines.ts';
import { leaderName, takesWrites, voterNames } from './etcd-oracle.ts';
import { note, printFigures } from './figures.ts';
import { FireCluster, goodEnd, masters } from './fire-cluster.ts';
import { isLong } from './long.ts';
import { pidOf, signal } from './machine-processes.ts';
import { type Cut, cut, cutOff } from './netfilter.ts';

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

describe.runIf(isLong)('faults while etcd has two, three and four voters', () => {
  let cluster: FireCluster;
  let gate: EtcdGate;
  let hold: Cut;

  const addressesOf = (names: readonly string[]): readonly string[] =>
    etcdMachines(cluster.dir)
      .filter(({ name }) => names.includes(name))
      .map(({ address }) => address);

  const voters = (count: number): Promise<readonly string[]> =>
    eventually(`${count} voters`, 120, async () => {
      const names = await voterNames(cluster, ['bootstrap']);
      return names?.length === count ? names : undefined;
    });

  /** How many changes of the membership were asked for so far; refused ones do not count. */
  const changes = (): number => gate.events().filter(({ kind }) => kind === 'answered').length;

  /** Cuts the bootstrap machine off from the masters; the gate, which stands elsewhere, included. */
  const partition = (): readonly Cut[] => [
    cutOff(cluster.infraId, 'bootstrap', addressesOf(masters)),
    ...masters.map((name) =>
      cut(cluster.infraId, name, [`ip saddr ${switchAddressOf(cluster.infraId)} tcp dport 2379`]),
    ),
  ];

  /** Kills the bootstrap member, waits for the masters and for its return; how many changes that led to. */
  const killBootstrapEtcd = async (): Promise<number> => {
    const before = await voterNames(cluster, ['bootstrap']);
    const done = changes();
    signal(pidOf(cluster.infraId, 'bootstrap', 'etcd') ?? 0, 'SIGKILL');
    const startMs = performance.now();
    const voting = before?.filter((name) => name !== 'bootstrap') ?? [];
    await eventually('a write through the masters', 30, async () =>
      (await takesWrites(cluster, voting)) ? true : undefined,
    );
    note(`5: writes through masters after kill -9 of the bootstrap member, ${before?.length} voters`, startMs);
    await eventually('that the bootstrap member rejoins', 60, async () =>
      (await voterNames(cluster, ['bootstrap']))?.join() === before?.join() ? true : undefined,
    );
    return changes() - done;
  };

  beforeAll(async () => {
    cluster = new FireCluster({ name: 'voters', load: { writesPerSecond: 20, watches: 50 } });
    await cluster.reach('machines');
    // Bootkube's calls only: what the masters' own agents do must not pass through a machine that can be cut off.
    gate = await cluster.openGate(['bootstrap']);
    gate.set('MemberPromote', 'pass-one');
    await cluster.reach('masters');
  });

  afterAll(async () => {
    printFigures();
    await cluster[Symbol.asyncDispose]();
  });

  test('14: at two voters a partition stops writes and every change; both go on when it heals', async () => {
    await voters(2);
    const cuts = partition();
    const done = changes();
    await pause(3_000);
    expect(await takesWrites(cluster, ['bootstrap'])).toBe(false);
    await pause(7_000);
    expect(changes()).toBe(done);
    for (const each of cuts) each.lift();
    const startMs = performance.now();
    await eventually('a write', 60, async () => ((await takesWrites(cluster, ['bootstrap'])) ? true : undefined));
    note('14: writes after a partition at two voters healed', startMs);
    expect(await voterNames(cluster, ['bootstrap'])).toHaveLength(2);
  });

  test('5: at three voters the bootstrap member is killed; the masters elect and it rejoins', async () => {
    gate.set('MemberPromote', 'pass-one');
    await voters(3);
    await eventually('an API of a master', 120, async () =>
      masters.some((name) => pidOf(cluster.infraId, name, 'kube-apiserver') !== undefined) ? true : undefined,
    );
    expect(await killBootstrapEtcd()).toBe(0);
  });

  test('13: at three voters a master stands still; nobody is added or removed, and it catches up', async () => {
    const still = (await voterNames(cluster, ['bootstrap']))?.find((name) => name !== 'bootstrap') ?? '';
    const done = changes();
    const pid = pidOf(cluster.infraId, still, 'etcd') ?? 0;
    signal(pid, 'SIGSTOP');
    await pause(3_000);
    await pause(17_000);
    signal(pid, 'SIGCONT');
    const backMs = performance.now();
    await eventually(`a write through ${still}`, 60, async () =>
      (await takesWrites(cluster, [still])) ? true : undefined,
    );
    note(`13: ${still} takes writes after its etcd stood still, three voters`, backMs);
    expect(changes()).toBe(done);
  });

  test('14: at four voters the masters go on alone while the bootstrap machine is cut off', async () => {
    // Without the masters' config servers bootkube does not let go, so four voters it stays.
    hold = cut(
      cluster.infraId,
      'bootstrap',
      addressesOf(masters).map((address) => `ip daddr ${address} tcp dport 22623`),
    );
    gate.set('MemberPromote', 'pass');
    await voters(4);
    await eventually('the API of every master', 180, async () => {
      const isThere = masters.every((name) => pidOf(cluster.infraId, name, 'kube-apiserver') !== undefined);
      return isThere && (await unansweredOf(cluster.dir, 8)).length === 0 ? true : undefined;
    });
    const done = changes();
    const cuts = partition();
    await pause(5_000);
    expect(await takesWrites(cluster, ['bootstrap'])).toBe(false);
    expect(await unansweredOf(cluster.dir, 20)).toEqual([]);
    for (const each of cuts) each.lift();
    const startMs = performance.now();
    await eventually('a write through the bootstrap member', 60, async () =>
      (await takesWrites(cluster, ['bootstrap'])) ? true : undefined,
    );
    note('14: the bootstrap member takes writes after a partition at four voters healed', startMs);
    expect(changes()).toBe(done);
  });

  test('13: at four voters a master stands still, the leader if it is one', async () => {
    const leader = await leaderName(cluster, 'master-0');
    const still = leader === undefined || leader === 'bootstrap' ? 'master-0' : leader;
    const done = changes();
    const pids = (['etcd', 'kube-apiserver'] as const).flatMap((name) => pidOf(cluster.infraId, still, name) ?? []);
    expect(pids).toHaveLength(2);
    for (const pid of pids) signal(pid, 'SIGSTOP');
    const startMs = performance.now();
    await eventually('that the load balancer uses others only', 30, async () =>
      (await unansweredOf(cluster.dir, 20)).length === 0 ? true : undefined,
    );
    note('13: twenty answers in a row after a master stood still', startMs);
    await pause(Math.max(0, 20_000 - (performance.now() - startMs)));
    expect(
      await takesWrites(
        cluster,
        masters.filter((name) => name !== still),
      ),
    ).toBe(true);
    for (const pid of pids) signal(pid, 'SIGCONT');
    const backMs = performance.now();
    await eventually(`a write through ${still}`, 60, async () =>
      (await takesWrites(cluster, [still])) ? true : undefined,
    );
    note('13: a master takes writes after it stood still, four voters', backMs);
    expect(changes()).toBe(done);
  });

  test('5: at four voters the bootstrap member is killed; the masters elect and it rejoins', async () => {
    expect(await killBootstrapEtcd()).toBe(0);
  });

  test('5 and 14: after the record the bootstrap member is removed while it is cut off', async () => {
    gate.set('MemberRemove', 'refuse');
    gate.set('MoveLeader', 'refuse');
    hold.lift();
    await cluster.reach('leave-etcd');
    const cuts = partition();
    const startMs = performance.now();
    await eventually('that only masters vote', 120, async () =>
      (await voterNames(cluster, masters))?.join() === masters.join() ? true : undefined,
    );
    note('14: the bootstrap member is removed by a master while it is cut off', startMs);
    for (const each of cuts) each.lift();
    gate.set('MemberRemove', 'pass');
    gate.set('MoveLeader', 'pass');
    await cluster.finish();
    expect(await cluster.end()).toEqual(goodEnd);
    const { lost, missed } = await cluster.endLoad();
    expect({ lost, missed }).toEqual({ lost: [], missed: [] });
  });
});
