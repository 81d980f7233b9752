// The content of an etcd data folder, read without starting etcd: the first records of its write-ahead log name the
// member and the cluster. Format: etcd server/storage/wal (8-byte length, then a protobuf record). This file never
// deletes data.
import { join } from 'node:path';
import type { Files } from '../host/files.ts';
import { etcdErrors } from './errors.ts';
import { type ClusterId, clusterId, type MemberId, memberId } from './member.ts';

export type DataFolder =
  | { readonly status: 'empty' }
  | { readonly status: 'present'; readonly member: MemberId; readonly cluster: ClusterId };

export async function readDataFolder(files: Files, folder: string): Promise<DataFolder> {
  const logs = join(folder, 'member', 'wal');
  const names = (await files.list(logs)) ?? [];
  const first = names.find((name) => name.endsWith('.wal'));
  if (first === undefined) return { status: 'empty' };
  const path = join(logs, first);
  for await (const chunk of files.stream(path)) return identityIn(chunk, path);
  throw etcdErrors.WAL_UNREADABLE({ path, reason: 'it is empty' });
}

/** Moves the data of a removed member aside, atomically; the newest archive is the one with the largest time. */
export async function archiveData(files: Files, folder: string, now: Date): Promise<string> {
  const stamp = now.toISOString().replace(/[-:.]/g, '');
  const archive = join(folder, `member-removed-archive-${stamp}`);
  await files.rename(join(folder, 'member'), archive);
  return archive;
}

const metadataType = 1n;
const recordsRead = 4;

/** Every log file begins with a checksum record, then the metadata. */
function identityIn(chunk: Uint8Array, path: string): DataFolder {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let at = 0;
  for (let count = 0; count < recordsRead && at + 8 <= chunk.length; count += 1) {
    const length = view.getBigUint64(at, true);
    const recordBytes = Number(length & 0xff_ffff_ffff_ffffn);
    const paddingBytes = length >> 63n === 1n ? Number((length >> 56n) & 7n) : 0;
    if (recordBytes === 0 || at + 8 + recordBytes > chunk.length) break;
    const record = fieldsOf(chunk.subarray(at + 8, at + 8 + recordBytes), path);
    const data = record.get(3);
    if (record.get(1) === metadataType && data instanceof Uint8Array) {
      const metadata = fieldsOf(data, path);
      return { status: 'present', member: memberId(idText(metadata, 1)), cluster: clusterId(idText(metadata, 2)) };
    }
    at += 8 + recordBytes + paddingBytes;
  }
  throw etcdErrors.WAL_UNREADABLE({ path, reason: 'its first records hold no metadata' });
}

function idText(fields: ReadonlyMap<number, bigint | Uint8Array>, number: number): string {
  const value = fields.get(number);
  return typeof value === 'bigint' ? value.toString() : '0';
}

/** The fields of a protobuf message that has only varints and byte strings. */
function fieldsOf(message: Uint8Array, path: string): ReadonlyMap<number, bigint | Uint8Array> {
  const fields = new Map<number, bigint | Uint8Array>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at];
      if (byte === undefined) break;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw etcdErrors.WAL_UNREADABLE({ path, reason: 'a number in it does not end' });
  };
  while (at < message.length) {
    const key = Number(varint());
    const value = varint();
    if ((key & 7) === 0) fields.set(key >> 3, value);
    else if ((key & 7) === 2) {
      fields.set(key >> 3, message.subarray(at, at + Number(value)));
      at += Number(value);
    } else throw etcdErrors.WAL_UNREADABLE({ path, reason: `wire type ${key & 7} in it is not one etcd writes` });
  }
  return fields;
}
