// The restore of an etcd by the real etcdutl, with the arguments of ours: it has what the snapshot had, it is another
// cluster than the lost one, and nobody can mistake its revisions for those that were lost.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restoreArguments } from '../../src/bootkube/restore/restore-etcd.ts';
import { snapshotDigests } from '../../src/disaster-recovery/backup-file.ts';
import { readEndpointStatus, readSnapshotStatus } from '../../src/disaster-recovery/etcd-answers.ts';
import { valueOfAnswer } from '../../src/etcd/client.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { type EtcdLab, etcdLab, until } from './etcd-lab.ts';
import { oracleProgram } from './programs.ts';

let lab: EtcdLab;
let lostCluster: string;
let lostRevision: number;
let snapshot: string;
const get = (key: string): string => lab.etcdctl(lab.bootstrap, 'get', key, '--print-value-only');

beforeAll(async () => {
  lab = await etcdLab(1);
  const { bootstrap, masters } = lab;
  const [master] = masters;
  await lab.startBootstrap();
  const etcd = lab.clients.at(bootstrap.clientUrl);
  valueOfAnswer(await etcd.put('kept', 'before'));
  snapshot = join(bootstrap.dataFolder, 'snapshot.db');
  lab.etcdctl(bootstrap, 'snapshot', 'save', snapshot);
  valueOfAnswer(await etcd.put('kept', 'changed'));
  valueOfAnswer(await etcd.put('later', 'lost'));
  // A member of the cluster that will be lost, whose data stays.
  if (master === undefined) throw new Error('no master');
  valueOfAnswer(await etcd.addLearner(master.peerUrl));
  await lab.agentStep(master);
  await until('the learner has started', async () =>
    valueOfAnswer(await etcd.memberList({ isLinearizable: true })).members.every(({ name }) => name !== ''),
  );
  const status = valueOfAnswer(await etcd.status());
  [lostCluster, lostRevision] = [status.clusterId, status.revision];
  await lab.kill(master);
  await lab.kill(bootstrap);
  lab.wipe(bootstrap);
  const { name, peerUrl, dataFolder } = bootstrap;
  const folder = join(dataFolder, 'restoring');
  const initialCluster = [{ name, peerUrl }];
  const args = restoreArguments({ snapshot, folder, founder: name, clusterToken: 'lab-1', initialCluster });
  execFileSync(oracleProgram('etcdutl'), args, { stdio: 'ignore' });
  renameSync(join(folder, 'member'), join(dataFolder, 'member'));
  // It has data, so it resumes: nothing here founds a cluster.
  await lab.agentStep(bootstrap);
  await until('the restored etcd answers', async () => (await etcd.status()).status === 'ok');
});
afterAll(() => lab[Symbol.asyncDispose]());

test('what the snapshot had is there, what was written later is not', () => {
  expect(get('kept')).toBe('before\n');
  expect(get('later')).toBe('');
});

test('it is another cluster: the data of a lost member is put aside, and never joins', async () => {
  const [master] = lab.masters;
  if (master === undefined) throw new Error('no master');
  expect(valueOfAnswer(await lab.clients.at(lab.bootstrap.clientUrl).status()).clusterId).not.toBe(lostCluster);
  await lab.agentStep(master);
  expect(master.decision?.kind).toBe('archive');
});

test('its revisions are none of the lost ones, and a watch from one of those is told to begin anew', async () => {
  const { revision } = valueOfAnswer(await lab.clients.at(lab.bootstrap.clientUrl).status());
  expect(revision).toBeGreaterThan(lostRevision + 900_000_000);
  expect(() => lab.etcdctl(lab.bootstrap, 'get', 'kept', `--rev=${lostRevision}`)).toThrow(/compacted/);
});

test('the answers of etcdctl and etcdutl are read as they are', () => {
  const text = lab.etcdctl(lab.bootstrap, 'endpoint', 'status', '-w', 'json');
  expect(readEndpointStatus('bootstrap', text)).toMatchObject({ hasLeader: true, isLearner: false, isCorrupt: false });
  const status = spawnSync(oracleProgram('etcdutl'), ['snapshot', 'status', snapshot, '-w', 'json'], {
    encoding: 'utf8',
  });
  expect(readSnapshotStatus(status.stdout)).toMatchObject({ keys: 1, storageVersion: '3.7.0' });
});

test('the checksum of a real snapshot is that of its content', async () => {
  expect(await snapshotDigests(realHost().files, snapshot)).toMatchObject({ isWhole: true });
});

test('told that it has data, an etcd without any ends instead of beginning empty', () => {
  const { name, peerUrl } = lab.bootstrap;
  const empty = join(lab.bootstrap.dataFolder, 'empty');
  mkdirSync(empty);
  const initial = { initialCluster: [{ name, peerUrl }], initialState: 'existing' } as const;
  const machine = { ...lab.bootstrap, dataFolder: empty };
  const free = lab.flagsOf(machine, initial).filter((flag) => !/^--listen-(client|peer|metrics)-urls/.test(flag));
  const listen = ['--listen-client-urls=https://127.0.0.1:0', '--listen-peer-urls=https://127.0.0.1:0'];
  const ended = spawnSync(oracleProgram('etcd'), [...free, ...listen], { encoding: 'utf8', timeout: 30_000 });
  expect(ended.status).toBe(1);
});
