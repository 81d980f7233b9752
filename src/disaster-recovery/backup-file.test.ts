import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { readBackup, snapshotDigests, writeBackup } from './backup-file.ts';
import type { BackupManifest } from './backup-manifest.ts';

const files = () => fakeHost().files;
let disk: ReturnType<typeof files>;

const database = Buffer.alloc(300_000, 'pages of etcd ');
const snapshot = Buffer.concat([database, createHash('sha256').update(database).digest()]);

const manifest: BackupManifest = {
  format: 1,
  takenAt: '2026-11-17T03:00:00.000Z',
  cluster: { name: 'demo', id: '7f9c5e5e-6c2a-4b0e-9d53-0d6a0f1f2a3b', infraId: 'demo-x2k4q' },
  release: { version: '0.1.0', image: 'r.test/release@sha256:1', kubernetes: '1.36.5', etcd: '3.7.3' },
  etcd: { member: 'master-0', hasMajority: true, storageVersion: '3.7.0', revision: 812, keys: 400, hash: 17 },
  snapshot: { sha256: createHash('sha256').update(snapshot).digest('hex'), sizeBytes: snapshot.length },
  encryption: { keys: ['key-20261117t030000z'], sealed: 'c2VhbGVk' },
};

beforeEach(async () => {
  disk = files();
  await disk.makeFolder('/b');
  await disk.write('/b/snapshot.db', snapshot);
});

const write = () => writeBackup(disk, { path: '/b/one.tar.gz', manifest, snapshot: '/b/snapshot.db' });

test('what is read is what was written, and the file is for its owner alone', async () => {
  await write();
  expect(await readBackup(disk, '/b/one.tar.gz', '/b/read.db')).toEqual(manifest);
  expect(Buffer.from(await disk.read('/b/read.db')).equals(snapshot)).toBe(true);
  expect((await disk.facts('/b/one.tar.gz'))?.mode).toBe(0o600);
  expect(await disk.list('/b')).toEqual(['one.tar.gz', 'read.db', 'snapshot.db']);
});

test('a backup never takes the place of another file', async () => {
  await disk.write('/b/one.tar.gz', 'mine');
  await expect(write()).rejects.toMatchObject({ code: 'RECOVERY_FILE_EXISTS' });
  expect(await disk.readText('/b/one.tar.gz')).toBe('mine');
  expect(await disk.list('/b')).toEqual(['one.tar.gz', 'snapshot.db']);
});

test.each([
  ['cut off', (whole: Buffer) => whole.subarray(0, whole.length - 20)],
  ['empty', () => Buffer.alloc(0)],
  ['another file', () => Buffer.from('apiVersion: v1\n')],
])('a file that is %s is refused, and no snapshot stays', async (_what, change) => {
  await write();
  await disk.write('/b/one.tar.gz', change(Buffer.from(await disk.read('/b/one.tar.gz'))));
  await expect(readBackup(disk, '/b/one.tar.gz', '/b/read.db')).rejects.toMatchObject({ code: 'RECOVERY_DAMAGED' });
  expect(await disk.facts('/b/read.db')).toBeUndefined();
});

test('a changed byte anywhere in the file is noticed', async () => {
  await write();
  const whole = Buffer.from(await disk.read('/b/one.tar.gz'));
  for (let at = 10; at < whole.length - 8; at += Math.ceil(whole.length / 40)) {
    const altered = Buffer.from(whole);
    altered[at] = (altered[at] ?? 0) ^ 0x10;
    await disk.write('/b/altered.tar.gz', altered);
    await expect(readBackup(disk, '/b/altered.tar.gz', '/b/read.db')).rejects.toMatchObject({
      code: 'RECOVERY_DAMAGED',
    });
  }
});

test('a file that is not there is named', async () => {
  await expect(readBackup(disk, '/b/none', '/b/read.db')).rejects.toMatchObject({
    message: '/b/none is no backup that can be used: there is no such file',
  });
});

test('the checksum at the end of a snapshot shows whether it is whole', async () => {
  expect(await snapshotDigests(disk, '/b/snapshot.db')).toEqual({ ...manifest.snapshot, isWhole: true });
  await disk.write('/b/cut.db', snapshot.subarray(0, -1));
  expect((await snapshotDigests(disk, '/b/cut.db')).isWhole).toBe(false);
});
