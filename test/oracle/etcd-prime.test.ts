// The first start of a new member, made outside of its pod, with the real etcd.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDataFolder } from '../../src/etcd/data-folder.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { primeEtcd } from '../../src/node/prime-etcd.ts';
import { type EtcdLab, etcdLab, type LabMachine, until } from './etcd-lab.ts';
import { oracleProgram } from './programs.ts';

const host = realHost();
/** etcd drops the first entry of its log when it has a hundred; from then on a new member is sent a snapshot. */
const entries = 120;

describe('a member that is to join', () => {
  let lab: EtcdLab;
  let master: LabMachine;
  const prime = (initialCluster: readonly { readonly name: string; readonly peerUrl: string }[]) =>
    primeEtcd(host, {
      program: oracleProgram('etcd'),
      flags: lab.flagsOf(master, { initialCluster, initialState: 'existing' }),
      metricsPort: master.ports.metrics,
      signal: AbortSignal.timeout(30_000),
    });

  beforeAll(async () => {
    lab = await etcdLab(1);
    master = lab.masters[0] as LabMachine;
    await lab.startBootstrap();
    for (let n = 0; n < entries; n += 1) lab.etcdctl(lab.bootstrap, 'put', `key-${n}`, 'value');
    lab.etcdctl(lab.bootstrap, 'member', 'add', master.name, '--learner', `--peer-urls=${master.peerUrl}`);
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test('is told why when its etcd ends, and nothing runs or is left', async () => {
    expect(await prime([{ name: master.name, peerUrl: master.peerUrl }])).toEqual({
      status: 'ended',
      said: expect.stringMatching(/^discovery failed: .*could not retrieve cluster information/),
    });
    expect(await readDataFolder(host.files, master.dataFolder)).toMatchObject({ status: 'empty' });
  });

  test('is told when the members are others than it was given, and nothing is left', async () => {
    const gone = { name: 'master-9', peerUrl: 'https://127.0.0.1:1' };
    const members = [...[lab.bootstrap, master].map(({ name, peerUrl }) => ({ name, peerUrl })), gone];
    expect(await prime(members)).toEqual({ status: 'ended', said: expect.stringContaining('member count is unequal') });
    expect(await readDataFolder(host.files, master.dataFolder)).toMatchObject({ status: 'empty' });
  });

  test('gets its data and ends, and serves as soon as it is started again', async () => {
    const members = [lab.bootstrap, master].map(({ name, peerUrl }) => ({ name, peerUrl }));
    expect(await prime(members)).toEqual({ status: 'has-data' });
    expect(await readDataFolder(host.files, master.dataFolder)).toMatchObject({ status: 'present' });
    await lab.agentStep(master);
    expect(master.decision).toMatchObject({ kind: 'resume' });
    // Without its data it would serve nobody for the seven seconds of a request.
    await until(
      'that the member answers',
      async () => (await lab.clients.at(master.clientUrl).status({ timeoutMs: 500 })).status === 'ok',
      5_000,
    );
    expect(lab.etcdctlMembers(lab.bootstrap)).toEqual(['bootstrap:voter', 'master-0:learner']);
  });
});
