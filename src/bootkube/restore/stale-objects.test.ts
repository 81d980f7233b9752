import { expect, test } from 'vitest';
import { tokenSecretType } from '../../admission/bootstrap-token-secret.ts';
import type { Inventory } from '../../contract/inventory.ts';
import type { Lease } from '../../kubernetes/lease-object.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { acceptedTokens, type RestoredObjects, staleObjects } from './stale-objects.ts';

const before = '2026-11-17T03:00:00Z';
const beganAt = new Date('2026-11-17T04:00:00Z');
const since = '2026-11-17T04:00:05Z';
const inventory: Inventory = {
  isClosed: true,
  machines: [
    { name: 'bootstrap', role: 'bootstrap', addresses: ['10.0.0.10'] },
    { name: 'master-0', role: 'master', addresses: ['10.0.0.11'] },
    { name: 'master-1', role: 'master', addresses: ['10.0.0.12'] },
    { name: 'worker-0', role: 'worker', addresses: ['10.0.0.21'] },
  ],
};

const object = (kind: string, name: string, creationTimestamp = before): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'kube-system', creationTimestamp },
});
const lease = (name: string, holderIdentity: string, renewTime = before): Lease => ({
  ...object('Lease', name),
  spec: { holderIdentity, renewTime },
});

const nothing: RestoredObjects = { nodes: [], configMaps: [], tokens: [], leases: [] };
const stale = (seen: Partial<RestoredObjects>, known = inventory) => {
  const { toDelete, toRelease } = staleObjects({ ...nothing, ...seen }, { inventory: known, beganAt });
  return [...toDelete, ...toRelease].map(({ metadata }) => metadata.name);
};

test('Nodes of lost masters go, those of workers stay, and so does a master that has joined since', () => {
  const nodes = [object('Node', 'master-0'), object('Node', 'master-1', since), object('Node', 'worker-0')];
  expect(stale({ nodes })).toEqual(['master-0']);
});

test('a Node of a machine that was removed after the backup goes, unless any machine may join', () => {
  const nodes = [object('Node', 'worker-7')];
  expect(stale({ nodes })).toEqual(['worker-7']);
  expect(stale({ nodes }, { ...inventory, isClosed: false })).toEqual([]);
});

test('the records of the lost handoff and of lost members go, those of the restore and of everybody else stay', () => {
  const names = ['bootstrap', 'bootstrap-progress', 'etcd-endpoints', 'firstlight-join-master-0'];
  const configMaps = [...names, 'coredns', 'firstlight-inventory'].map((name) => object('ConfigMap', name));
  const fresh = ['etcd-endpoints', 'firstlight-join-master-1'].map((name) => object('ConfigMap', name, since));
  expect(stale({ configMaps: [...configMaps, ...fresh] })).toEqual(names);
});

test('tokens of before open nothing any more', () => {
  const type = tokenSecretType;
  const tokens = [
    { ...object('Secret', 'bootstrap-token-aaaaaa'), type },
    { ...object('Secret', 'bootstrap-token-bbbbbb', since), type },
    { ...object('Secret', 'of-a-user'), type: 'Opaque' },
  ];
  expect(stale({ tokens })).toEqual(['bootstrap-token-aaaaaa']);
});

test('a Lease whose holder is gone is released; one that was renewed since, or is of others, is not', () => {
  const leases = [
    lease('etcd-membership', 'master-1-412'),
    lease('kube-scheduler', 'master-2_9c'),
    lease('csr-approver', 'bootstrap-77', since),
    lease('leaf-renewal', ''),
    lease('apiserver-x', 'apiserver-x_1'),
  ];
  expect(stale({ leases })).toEqual(['etcd-membership', 'kube-scheduler']);
});

test('config servers accept the pool tokens of the folder, and others of the backup that are still alive', () => {
  const token = (sha256: string, notAfter: string) => ({ sha256, notAfter });
  const [dead, alive] = ['2026-11-17T03:30:00Z', '2026-12-01T00:00:00Z'];
  const known = {
    master: [token('a', dead)],
    worker: [token('b', alive)],
    infra: [token('c', alive), token('d', dead)],
  };
  const own = { master: [token('e', alive)], worker: [token('b', alive)] };
  expect(acceptedTokens(known, own, beganAt)).toEqual({
    master: [token('e', alive)],
    worker: [token('b', alive)],
    infra: [token('c', alive)],
  });
});
