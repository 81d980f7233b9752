// At the end of the handoff and after it: the leader dies while it removes the bootstrap member, a voter loses its data.
// One cluster, tests in order.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { machinePaths } from '../../../src/platform/local/cluster-folder.ts';
import { eventually } from '../machine-lab.ts';
import type { EtcdGate } from './etcd-gate.ts';
import { listMembers, takesWrites, voterNames } from './etcd-oracle.ts';
import { note, printFigures } from './figures.ts';
import { FireCluster, goodEnd, masters } from './fire-cluster.ts';
import { isLong } from './long.ts';
import { pidOf, signal } from './machine-processes.ts';
import { memberHistory } from './member-history.ts';

describe.runIf(isLong)('faults at the end of the handoff', () => {
  let cluster: FireCluster;
  let gate: EtcdGate;

  beforeAll(async () => {
    cluster = new FireCluster({ name: 'end', load: { writesPerSecond: 20, watches: 50 } });
    await cluster.reach('machines');
    gate = await cluster.openGate();
    gate.set('MemberRemove', 'hold-answer');
  });

  afterAll(async () => {
    printFigures();
    await cluster[Symbol.asyncDispose]();
  });

  test('7: the leader dies between the removal and its answer; nobody else is removed', async () => {
    const killed = new Promise<string>((done) => {
      gate.onEvent(({ call, kind, grpcStatus, member }) => {
        if (call !== 'MemberRemove' || kind !== 'answered' || grpcStatus !== '0') return;
        const pid = pidOf(cluster.infraId, member, 'etcd');
        if (pid !== undefined && signal(pid, 'SIGKILL')) done(member);
        gate.set('MemberRemove', 'pass');
      });
    });
    await cluster.finish();
    expect(masters).toContain(await killed);
    expect(await cluster.end()).toEqual(goodEnd);
    expect(gate.events().filter(({ call, kind }) => call === 'MemberRemove' && kind === 'answered')).toHaveLength(1);
  });

  test('17: a voter without its data does not vote; it is replaced and votes again under a new ID', async () => {
    const before = (await listMembers(cluster))?.find(({ name }) => name === 'master-1');
    const startMs = performance.now();
    rmSync(join(machinePaths(cluster.infraId, 'master-1').etcd, 'member'), { recursive: true, force: true });
    expect(signal(pidOf(cluster.infraId, 'master-1', 'etcd') ?? 0, 'SIGKILL')).toBe(true);
    const after = await eventually('a new member on master-1 that votes', 240, async () => {
      const members = await listMembers(cluster, ['master-0', 'master-2']);
      const found = members?.find(({ name }) => name === 'master-1');
      return found !== undefined && !found.isLearner && found.id !== before?.id ? found : undefined;
    });
    note('17: replaced after its data was wiped', startMs);
    expect(after.id).not.toBe(before?.id);
    await eventually('a write through master-1', 60, async () =>
      (await takesWrites(cluster, ['master-1'])) ? true : undefined,
    );
    expect(await voterNames(cluster)).toEqual(masters);
    expect(memberHistory(cluster.infraId).removed.size).toBe(2);
    const { lost, missed } = await cluster.endLoad();
    expect({ lost, missed }).toEqual({ lost: [], missed: [] });
  });
});
