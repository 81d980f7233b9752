import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { bootedMachine } from '../../../test/booted-machine.ts';
import { copyOfMachine, type MachineWithApi, renderedMachine } from '../../../test/machine-with-api.ts';
import { type EtcdRestore, etcdRestoreFile, etcdRestoreText, etcdSnapshotFile } from '../../contract/etcd-restore.ts';
import { etcdDataFolder } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import type { StageTools } from '../../workflow/stage.ts';
import { type BootkubeContext, loadContext } from '../context.ts';
import { restoreEtcd } from './restore-etcd.ts';

const snapshot = Buffer.from('what etcd had');
const restore: EtcdRestore = {
  id: '0011223344556677',
  beganAt: '2026-01-01T00:00:00.000Z',
  snapshot: {
    sha256: createHash('sha256').update(snapshot).digest('hex'),
    sizeBytes: snapshot.length,
    revision: 812,
  },
};
const tools: StageTools = { signal: new AbortController().signal, report: () => {} };

let machine: MachineWithApi;
beforeAll(async () => {
  machine = await renderedMachine((host) => host.files.write(etcdRestoreFile, etcdRestoreText(restore)));
});

interface Ran {
  readonly context: BootkubeContext;
  readonly calls: string[][];
}

/** etcdutl, as far as this machine sees it: it writes a member folder, or fails. */
async function withEtcdutl(outcome: 'restores' | 'fails'): Promise<Ran> {
  const { context } = await copyOfMachine(machine);
  const calls: string[][] = [];
  const run: Host['processes']['run'] = async (_program, args) => {
    calls.push([...args]);
    const folder = args.find((each) => each.startsWith('--data-dir='))?.slice('--data-dir='.length) ?? '';
    await context.host.files.makeFolder(`${folder}/member/wal`);
    await context.host.files.write(`${folder}/member/wal/0.wal`, walOfMember);
    const code = outcome === 'restores' ? 0 : 1;
    return { code, signal: undefined, stdout: '', stderr: 'Error: no such bucket\n', timedOut: false };
  };
  const processes = { ...context.host.processes, run };
  return { context: { ...context, host: { ...context.host, processes } }, calls };
}

/** A record that says which member and cluster the log is of: type 1, then data with two ids. */
const data = Buffer.from([0x08, 0x01, 0x10, 0x02]);
const record = Buffer.from([0x08, 0x01, 0x10, 0x00, 0x1a, data.length, ...data]);
const length = Buffer.alloc(8);
length.writeBigUInt64LE(BigInt(record.length));
const walOfMember = Buffer.concat([length, record]);

test('the data is made from the snapshot, under a token that no member of the lost etcd knows', async () => {
  const { context, calls } = await withEtcdutl('restores');
  await context.host.files.write(etcdSnapshotFile, snapshot);
  await restoreEtcd(context, tools);
  expect(calls).toHaveLength(1);
  expect(calls[0]).toEqual(
    expect.arrayContaining([
      etcdSnapshotFile,
      '--name=etcd-bootstrap',
      '--initial-cluster=etcd-bootstrap=https://10.99.0.10:2380',
      `--initial-cluster-token=${context.clusterId}-${restore.id}`,
      '--bump-revision=1000000000',
      '--mark-compacted',
    ]),
  );
  expect(await context.host.files.list(etcdDataFolder)).toEqual(['member']);
  await restoreEtcd(context, tools);
  expect(calls).toHaveLength(1);
});

test('what an interrupted attempt left is made again', async () => {
  const { context } = await withEtcdutl('restores');
  await context.host.files.write(etcdSnapshotFile, snapshot);
  await context.host.files.makeFolder(`${etcdDataFolder}/restoring/member/snap`);
  await restoreEtcd(context, tools);
  expect(await context.host.files.list(`${etcdDataFolder}/member`)).toEqual(['wal']);
});

test('a snapshot that etcdutl refuses leaves no data with which an etcd could start', async () => {
  const { context } = await withEtcdutl('fails');
  await context.host.files.write(etcdSnapshotFile, snapshot);
  await expect(restoreEtcd(context, tools)).rejects.toMatchObject({
    code: 'BOOTKUBE_SNAPSHOT_REFUSED',
    message: 'etcdutl does not restore the snapshot: Error: no such bucket',
  });
  expect(await context.host.files.facts(`${etcdDataFolder}/member`)).toBeUndefined();
});

test.each([
  ['is not there', undefined],
  ['is of another backup', Buffer.from('what etcd HAD')],
  ['is cut off', snapshot.subarray(1)],
])('while the snapshot %s, nothing is restored and it is said what is missing', async (_what, content) => {
  const { context, calls } = await withEtcdutl('restores');
  if (content !== undefined) await context.host.files.write(etcdSnapshotFile, content);
  await expect(restoreEtcd(context, tools)).rejects.toMatchObject({
    code: 'WORKFLOW_DEADLINE',
    message: expect.stringContaining('the arrival of the snapshot of etcd') as string,
  });
  expect(calls).toEqual([]);
});

test('the machine of a new cluster restores nothing', async () => {
  const host = await bootedMachine();
  const context = await loadContext(host, () => {});
  await restoreEtcd(context, tools);
  expect(context.restore).toBeUndefined();
  expect(await host.files.facts(etcdDataFolder)).toBeUndefined();
});

test('the etcd of a restore cannot begin empty: without its data it does not start', async () => {
  const pod = await machine.host.files.readText('/opt/firstlight/render/07-etcd/etcd-pod.yaml');
  expect(pod).toContain('--initial-cluster-state=existing\n');
  expect(pod).toContain(`--initial-cluster-token=${machine.context.clusterId}-${restore.id}\n`);
});

test('a restore that cannot be read stops the bootstrap', async () => {
  const host = await bootedMachine();
  await host.files.write(etcdRestoreFile, '{}');
  await expect(loadContext(host, () => {})).rejects.toMatchObject({ code: 'BOOTKUBE_RESTORE_FILE' });
});
