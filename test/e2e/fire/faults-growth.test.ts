// While masters join etcd: the only voter is killed, answers are lost, a learner that caught up dies. One cluster for all
// of it; the tests run in order and each leaves the cluster able to go on.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../machine-lab.ts';
import { carriedOut, type EtcdGate, repeated } from './etcd-gate.ts';
import { listMembers, takesWrites, voterNames } from './etcd-oracle.ts';
import { note, printFigures } from './figures.ts';
import { FireCluster, goodEnd, masters } from './fire-cluster.ts';
import { isLong } from './long.ts';
import { pidOf, signal } from './machine-processes.ts';

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

describe.runIf(isLong)('faults while masters join etcd', () => {
  let cluster: FireCluster;
  let gate: EtcdGate;

  beforeAll(async () => {
    cluster = new FireCluster({ name: 'growth', load: { writesPerSecond: 20, watches: 50 } });
    await cluster.reach('machines');
    gate = await cluster.openGate();
    gate.set('MemberAdd', 'refuse');
    gate.set('MemberPromote', 'refuse');
    await eventually('that bootkube wants to add a master', 180, async () =>
      gate.events().some(({ call }) => call === 'MemberAdd') ? true : undefined,
    );
  });

  afterAll(async () => {
    printFigures();
    await cluster[Symbol.asyncDispose]();
  });

  test('2: the only voter is killed and comes back with its data; nobody is added twice', async () => {
    const before = await listMembers(cluster, ['bootstrap']);
    const pid = pidOf(cluster.infraId, 'bootstrap', 'etcd') ?? 0;
    const startMs = performance.now();
    expect(signal(pid, 'SIGKILL')).toBe(true);
    const after = await eventually('an answer of the killed member', 30, () => listMembers(cluster, ['bootstrap']));
    note('2: etcd answers again after kill -9 of the only voter', startMs);
    expect(after).toEqual(before);
    expect(pidOf(cluster.infraId, 'bootstrap', 'etcd')).not.toBe(pid);
  });

  test('10: the answer to an addition is lost; the master is not added again', async () => {
    gate.set('MemberAdd', 'lose-answer');
    const members = await eventually('three learners that have started', 180, async () => {
      const seen = await listMembers(cluster, ['bootstrap']);
      return seen?.filter(({ isLearner, hasStarted }) => isLearner && hasStarted).length === 3 ? seen : undefined;
    });
    expect(members.map(({ name }) => name).toSorted()).toEqual(['bootstrap', ...masters]);
    expect(carriedOut(gate, 'MemberAdd')).toHaveLength(3);
  });

  test('3 and 10: a learner that caught up dies and is not promoted; the answer to a promotion is lost', async () => {
    const victim = (await listMembers(cluster))?.find(({ name }) => name === 'master-0');
    const kubelet = pidOf(cluster.infraId, 'master-0', 'kubelet') ?? 0;
    expect(signal(kubelet, 'SIGSTOP')).toBe(true);
    expect(signal(pidOf(cluster.infraId, 'master-0', 'etcd') ?? 0, 'SIGKILL')).toBe(true);
    const downMs = performance.now();
    gate.set('MemberPromote', 'lose-answer');
    await eventually('three voters', 60, async () =>
      (await voterNames(cluster, ['bootstrap']))?.join() === 'bootstrap,master-1,master-2' ? true : undefined,
    );
    await pause(Math.max(0, 30_000 - (performance.now() - downMs)));
    expect(await takesWrites(cluster, ['master-1'])).toBe(true);
    const asked = gate.events().filter(({ call, about }) => call === 'MemberPromote' && about === victim?.id);
    expect(asked.filter(({ kind }) => kind === 'answered')).toEqual([]);
    expect(signal(kubelet, 'SIGCONT')).toBe(true);
    const backMs = performance.now();
    await eventually('four voters', 90, async () =>
      (await voterNames(cluster, ['bootstrap']))?.length === 4 ? true : undefined,
    );
    note('3: promoted after its kubelet was let go on', backMs);
    expect(carriedOut(gate, 'MemberPromote')).toHaveLength(3);
  });

  test('10: the answer to the removal of the bootstrap member is lost; the end is the same', async () => {
    gate.set('MemberRemove', 'lose-answer');
    await cluster.finish();
    expect(await cluster.end()).toEqual(goodEnd);
    expect(carriedOut(gate, 'MemberRemove')).toHaveLength(1);
    expect(repeated(gate)).toEqual([]);
    const { lost, missed } = await cluster.endLoad();
    expect({ lost, missed }).toEqual({ lost: [], missed: [] });
  });
});
