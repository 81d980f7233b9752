import { expect, test } from 'vitest';
import type { MemberId } from '../etcd/member.ts';
import { type JoinRecord, joinRecordObject, readJoinRecord } from './join-record.ts';

const record: JoinRecord = {
  node: 'master-1',
  address: '10.99.0.12',
  peerUrl: 'https://10.99.0.12:2380',
  clientUrl: 'https://10.99.0.12:2379',
  at: new Date('2026-01-01T00:00:00.000Z'),
  clockOffsetMs: -250,
  isReady: true,
  etcdVersion: '3.7.3',
  freeDiskBytes: 2 ** 40,
  fsyncP99Ms: 4.25,
};

test('what was published is what is read, also with a lost member', () => {
  const lost = { ...record, isReady: false, lostDataOf: '9cb24a164db1949' as MemberId };
  for (const each of [record, lost]) expect(readJoinRecord(joinRecordObject(each))).toEqual(each);
});

test('every field is a text, as a ConfigMap wants it', () => {
  const { data } = joinRecordObject(record) as unknown as { data: Record<string, unknown> };
  expect(Object.values(data).every((value) => typeof value === 'string')).toBe(true);
});

test("what is damaged or somebody else's is no record", () => {
  const object = joinRecordObject(record);
  const data = object['data'] as Record<string, string>;
  const damaged: Readonly<Record<string, string>>[] = [
    {},
    { ...data, isReady: 'perhaps' },
    { ...data, freeDiskBytes: 'plenty' },
    { ...data, at: 'yesterday' },
    { ...data, lostDataOf: 'g' },
  ];
  for (const each of damaged) expect(readJoinRecord({ ...object, data: each })).toBeUndefined();
  expect(readJoinRecord({ ...object, metadata: { ...object.metadata, name: 'coredns' } })).toBeUndefined();
  expect(readJoinRecord({ ...object, metadata: { ...object.metadata, namespace: 'default' } })).toBeUndefined();
});
