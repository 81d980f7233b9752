// Machines that fail while they join: one is powered off right after it was announced to etcd, another runs out of disk.
// One cluster, tests in order.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, inside } from '../machine-lab.ts';
import type { EtcdGate } from './etcd-gate.ts';
import { etcdMachines } from './etcd-machines.ts';
import { listMembers, voterNames } from './etcd-oracle.ts';
import { note, printFigures } from './figures.ts';
import { FireCluster, goodEnd } from './fire-cluster.ts';
import { isLong } from './long.ts';
import { leaderOf, pidOf, signal } from './machine-processes.ts';

const namedDisk = /etcd on master-2 has \d+ MiB of disk left/;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

describe.runIf(isLong)('faults of machines that join', () => {
  let cluster: FireCluster;
  let gate: EtcdGate;
  let poweredOffMs = 0;

  const inMounts = (machine: string, ...command: readonly string[]): void => {
    const leader = leaderOf(cluster.infraId, machine);
    execFileSync('nsenter', ['--target', String(leader), '--mount', ...command], { stdio: 'pipe' });
  };
  const memberOf = async (machine: string) =>
    (await listMembers(cluster, ['bootstrap']))?.find(({ name }) => name === machine);

  beforeAll(async () => {
    cluster = new FireCluster({ name: 'broken', load: { writesPerSecond: 20, watches: 50 } });
    await cluster.reach('machines');
    gate = await cluster.openGate();
    gate.set('MemberPromote', 'refuse');
    const peerUrl = `https://${etcdMachines(cluster.dir).find(({ name }) => name === 'master-1')?.address}:2380`;
    gate.set('MemberAdd', 'hold-answer');
    gate.onEvent(({ call, kind, about, grpcStatus }) => {
      if (call !== 'MemberAdd' || kind !== 'answered' || grpcStatus !== '0') return;
      if (about === peerUrl && poweredOffMs === 0) {
        signal(leaderOf(cluster.infraId, 'master-1') ?? 0, 'SIGKILL');
        poweredOffMs = performance.now();
        gate.set('MemberAdd', 'pass');
      } else {
        gate.set('MemberAdd', 'pass');
        gate.set('MemberAdd', 'hold-answer');
      }
    });
    // A disk of its own for etcd on master-2, before etcd is there.
    await eventually('process 1 of master-2', 60, async () => leaderOf(cluster.infraId, 'master-2'));
    await cluster.reach('manifests');
    inMounts('master-2', 'mount', '-t', 'tmpfs', '-o', 'size=1200M', 'tmpfs', '/var/lib/etcd');
  });

  afterAll(async () => {
    printFigures();
    await cluster[Symbol.asyncDispose]();
  });

  test('16: a learner whose disk is full is not promoted; with space again it is', async () => {
    await eventually('that master-0 and master-2 have started', 180, async () => {
      const members = await listMembers(cluster, ['bootstrap']);
      const started = members?.filter(({ isLearner, hasStarted }) => isLearner && hasStarted).map(({ name }) => name);
      return started?.includes('master-0') === true && started.includes('master-2') ? true : undefined;
    });
    // What etcd holds in advance it gives back when it ends, and then the disk is made as small as what is on it.
    await eventually('that the disk of master-2 is full', 90, async () => {
      const etcd = pidOf(cluster.infraId, 'master-2', 'etcd');
      if (etcd !== undefined) return void signal(etcd, 'SIGTERM');
      const shrink =
        'mount -o remount,size=$(df -k --output=used /var/lib/etcd | tail -n 1 | tr -d " ")k /var/lib/etcd';
      inMounts('master-2', 'sh', '-c', shrink);
      return true;
    });
    const fullMs = performance.now();
    await eventually('that bootkube names the disk', 90, async () =>
      namedDisk.test(await inside(cluster.infraId, 'bootstrap', 'journalctl --unit=bootkube')) ? true : undefined,
    );
    note('16: the disk is named after it became full', fullMs);
    gate.set('MemberPromote', 'pass');
    await pause(15_000);
    expect((await memberOf('master-2'))?.isLearner).toBe(true);
    inMounts('master-2', 'mount', '-o', 'remount,size=1200M', '/var/lib/etcd');
    const freeMs = performance.now();
    await eventually('that master-0 and master-2 vote', 120, async () =>
      (await voterNames(cluster, ['bootstrap']))?.join() === 'bootstrap,master-0,master-2' ? true : undefined,
    );
    note('16: promoted after its disk had space again', freeMs);
  });

  test('8: a master that was announced and powered off is taken off the list, and joins anew when it is back', async () => {
    expect(poweredOffMs).toBeGreaterThan(0);
    const announced = gate.events().find(({ call }) => call === 'MemberAdd');
    expect(announced).toBeDefined();
    await eventually('that master-1 is off the list', 150, async () =>
      (await memberOf('master-1')) === undefined ? true : undefined,
    );
    note('8: taken off the list after it was powered off', poweredOffMs);
    // The command has said by now that a machine is down; run again, it starts it.
    await cluster.runAgain();
    await cluster.finish();
    const end = await cluster.end();
    expect(end).toEqual({ ...goodEnd, addedTwice: end.addedTwice, removedMembers: 2 });
    expect(end.addedTwice).toHaveLength(1);
    const { lost, missed } = await cluster.endLoad();
    expect({ lost, missed }).toEqual({ lost: [], missed: [] });
  });
});
