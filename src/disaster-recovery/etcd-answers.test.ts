import { expect, test } from 'vitest';
import { chooseMember, type EtcdSight, readEndpointStatus, readSnapshotStatus } from './etcd-answers.ts';

// As etcdctl and etcdutl 3.7.3 print it.
const status =
  '[{"Endpoint":"https://127.0.0.1:2379","Status":{"header":{"cluster_id":14841639068965178418,"member_id":10276657743932975437,"revision":812,"raft_term":2},"version":"3.7.3","dbSize":20480,"leader":10276657743932975437,"raftIndex":915,"raftTerm":2,"raftAppliedIndex":914,"dbSizeInUse":16384,"storageVersion":"3.7.0","dbSizeQuota":2147483648,"downgradeInfo":{}}}]';

const well: EtcdSight = {
  machine: 'master-0',
  revision: 812,
  appliedIndex: 914,
  sizeBytes: 20_480,
  isLearner: false,
  hasLeader: true,
  isCorrupt: false,
};

test('the answer of a member is read, also of one without a leader or with an alarm', () => {
  expect(readEndpointStatus('master-0', status)).toEqual(well);
  const alone = status
    .replace('"leader":10276657743932975437,', '')
    .replace('}}}]', '},"errors":["etcdserver: no leader"]}}]');
  expect(readEndpointStatus('master-0', alone)).toEqual({ ...well, hasLeader: false });
  const corrupt = status.replace('}}}]', '},"errors":["memberID:1 alarm:CORRUPT "]}}]');
  expect(readEndpointStatus('master-0', corrupt)).toEqual({ ...well, isCorrupt: true });
  expect(readEndpointStatus('master-0', '')).toBeUndefined();
});

test.each([
  ['nobody', [], undefined],
  ['the one that has applied the most', [well, { ...well, machine: 'master-1', appliedIndex: 920 }], 'master-1'],
  [
    'a voter before a learner',
    [
      { ...well, isLearner: true, appliedIndex: 999 },
      { ...well, machine: 'master-1' },
    ],
    'master-1',
  ],
  [
    'one with a leader before one that is ahead',
    [
      { ...well, hasLeader: false, appliedIndex: 999 },
      { ...well, machine: 'master-2' },
    ],
    'master-2',
  ],
  ['the only one, without a majority', [{ ...well, hasLeader: false }], 'master-0'],
  ['none that is corrupt', [{ ...well, isCorrupt: true }], undefined],
])('a snapshot is taken from %s', (_who, seen: readonly EtcdSight[], machine) => {
  expect(chooseMember(seen)?.machine).toBe(machine);
});

test('the status of a snapshot is read', () => {
  const text = '{"hash":1300550502,"revision":2,"totalKey":1,"totalSize":20480,"version":"3.7.0"}\n';
  expect(readSnapshotStatus(text)).toEqual({ hash: 1_300_550_502, revision: 2, keys: 1, storageVersion: '3.7.0' });
  expect(readSnapshotStatus('Error: not a database')).toBeUndefined();
});
