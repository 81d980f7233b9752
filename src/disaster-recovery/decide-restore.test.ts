import { expect, test } from 'vitest';
import type { BackupManifest } from './backup-manifest.ts';
import { decideRestore, newerPart, type RestoreSight } from './decide-restore.ts';

const workers: RestoreSight['machines'] = [{ name: 'worker-0', role: 'worker' }];
const master = { name: 'master-1', role: 'master' } as const;
const bootstrap = { name: 'bootstrap', role: 'bootstrap' } as const;
const underWay = { id: '0011223344556677', beganAt: '2026-11-17T03:00:00.000Z', sha256: 'a' };
const lost: RestoreSight = { sha256: 'a', underWay: undefined, machines: workers, mayReplace: false };

test('it begins where no master is left', () => {
  expect(decideRestore(lost)).toEqual({ kind: 'begin', destroyed: [] });
});

test('a master that is there is not touched unless the person says so', () => {
  const one = { ...lost, machines: [...workers, master] };
  expect(decideRestore(one)).toEqual({ kind: 'masters-live', machines: ['master-1'] });
  expect(decideRestore({ ...one, mayReplace: true })).toEqual({ kind: 'begin', destroyed: ['master-1'] });
});

test('an interrupted restore continues with its own backup, and its machines are never replaced by it', () => {
  const machines = [...workers, bootstrap, master];
  for (const mayReplace of [false, true]) {
    expect(decideRestore({ ...lost, machines, underWay, mayReplace })).toEqual({ kind: 'continue', underWay });
  }
});

test('another backup does not mix with a restore that is under way', () => {
  const other = { ...lost, sha256: 'b', machines: [...workers, bootstrap], underWay };
  expect(decideRestore(other)).toEqual({
    kind: 'another-under-way',
    began: underWay.beganAt,
    machines: ['bootstrap'],
  });
  expect(decideRestore({ ...other, mayReplace: true })).toEqual({ kind: 'begin', destroyed: ['bootstrap'] });
});

test('a restore whose machines were all destroyed begins anew', () => {
  expect(decideRestore({ ...lost, underWay })).toEqual({ kind: 'begin', destroyed: [] });
});

const backup = (kubernetes: string, storageVersion: string) =>
  ({ release: { kubernetes }, etcd: { storageVersion } }) as BackupManifest;

test.each([
  ['1.36.5', '3.7.0', undefined],
  ['1.36.9', '3.7.0', undefined],
  ['1.35.0', '3.6.0', undefined],
  ['1.37.0', '3.7.0', { what: 'Kubernetes', backup: '1.37.0', here: '1.36.5' }],
  ['1.36.5', '3.8.0', { what: 'the storage of etcd', backup: '3.8.0', here: '3.7.3' }],
  ['1.36.5', '4.0.0', { what: 'the storage of etcd', backup: '4.0.0', here: '3.7.3' }],
])('a backup of Kubernetes %s with storage %s is taken by a release that is as new', (kubernetes, storage, newer) => {
  expect(newerPart(backup(kubernetes, storage), { kubernetes: '1.36.5', etcd: '3.7.3' })).toEqual(newer);
});
