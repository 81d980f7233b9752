import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { archiveData, readDataFolder } from './data-folder.ts';
import { etcdErrors } from './errors.ts';

const log = '/var/lib/etcd/member/wal/0000000000000000-0000000000000000.wal';

async function folderWith(content: Uint8Array) {
  const { files } = fakeHost();
  await files.makeFolder('/var/lib/etcd/member/wal');
  await files.write(log, content);
  return files;
}

/** A record as etcd frames it: length, padding in the top bits, protobuf. */
function frame(record: readonly number[]): Buffer {
  const padding = (8 - (record.length % 8)) % 8;
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(record.length) | (padding === 0 ? 0n : (0x80n | BigInt(padding)) << 56n));
  return Buffer.concat([length, Buffer.from(record), Buffer.alloc(padding)]);
}

const checksum = frame([0x08, 4, 0x10, 0]);
const metadata = frame([0x08, 1, 0x10, 7, 0x1a, 6, 0x08, 0xac, 0x02, 0x10, 0x90, 0x01]);

test('the log names its member and its cluster', async () => {
  const files = await folderWith(Buffer.concat([checksum, metadata]));
  expect(await readDataFolder(files, '/var/lib/etcd')).toEqual({ status: 'present', member: '12c', cluster: '90' });
});

test('a folder without a log is empty, whatever else is in it', async () => {
  const { files } = fakeHost();
  await files.makeFolder('/var/lib/etcd/member/snap');
  expect(await readDataFolder(files, '/var/lib/etcd')).toEqual({ status: 'empty' });
});

test.each([
  ['zeroes', Buffer.alloc(64)],
  ['noise', Buffer.from('this is not a log of etcd at all, whatever its name says')],
  ['a log that ends in the middle of its metadata', Buffer.concat([checksum, metadata.subarray(0, 12)])],
])('%s is said to be unreadable, never taken for empty', async (_title, content) => {
  const files = await folderWith(content);
  await expect(readDataFolder(files, '/var/lib/etcd')).rejects.toMatchObject({ code: etcdErrors.WAL_UNREADABLE.code });
});

test('an archive keeps the data under another name', async () => {
  const files = await folderWith(metadata);
  const archive = await archiveData(files, '/var/lib/etcd', new Date('2026-01-02T03:04:05.678Z'));
  expect(archive).toBe('/var/lib/etcd/member-removed-archive-20260102T030405678Z');
  expect(await readDataFolder(files, '/var/lib/etcd')).toEqual({ status: 'empty' });
  expect(await files.list(`${archive}/wal`)).toHaveLength(1);
});
