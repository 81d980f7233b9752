import { describe, expect, test } from 'vitest';
import { inventory, nodeObject } from '../../test/sim/agent-fixture.ts';
import { leavingAnnotation } from '../contract/cluster-objects.ts';
import type { Inventory } from '../contract/inventory.ts';
import type { MemberId } from '../etcd/member.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { type JoinRecord, joinRecordObject } from './join-record.ts';
import { type FactsSources, membershipFacts } from './membership-facts.ts';

const now = new Date('2026-01-01T00:00:20Z');
const expected = inventory as unknown as Inventory;

const record = (node: string, change: Partial<JoinRecord> = {}): KubernetesObject =>
  joinRecordObject({
    node,
    address: '10.99.0.99',
    peerUrl: 'https://10.99.0.99:2380',
    clientUrl: 'https://10.99.0.99:2379',
    at: new Date('2026-01-01T00:00:15Z'),
    clockOffsetMs: 0,
    isReady: true,
    etcdVersion: '3.7.3',
    freeDiskBytes: 2 ** 33,
    fsyncP99Ms: 5,
    ...change,
  });

const facts = (change: Partial<FactsSources> = {}) =>
  membershipFacts({
    inventory: expected,
    configMaps: [],
    nodes: [],
    readyApiServers: [],
    bootstrapApi: 'answers',
    maxLearners: 3,
    now,
    ...change,
  });

const configMap = (name: string, data: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'kube-system' },
  data,
});

describe('who the masters are', () => {
  test('those of the inventory, at the addresses of the inventory, whatever a record claims', () => {
    const { masters, bootstrap } = facts({ configMaps: [record('master-1')] });
    expect(masters.map(({ name, peerUrl }) => `${name} ${peerUrl}`)).toEqual([
      'master-0 https://10.99.0.11:2380',
      'master-1 https://10.99.0.12:2380',
      'master-2 https://10.99.0.13:2380',
    ]);
    expect(bootstrap).toEqual({
      name: 'bootstrap',
      peerUrl: 'https://10.99.0.10:2380',
      clientUrl: 'https://10.99.0.10:2379',
    });
  });

  test('an inventory without a bootstrap machine has no bootstrap member', () => {
    const machines = expected.machines.filter(({ role }) => role !== 'bootstrap');
    expect(facts({ inventory: { isClosed: true, machines } }).bootstrap).toBeUndefined();
  });

  test('a record of a machine that is not in a closed inventory makes no master: it leaves, and without a node is gone', () => {
    const configMaps = [record('master-9')];
    const stranger = (nodes: readonly KubernetesObject[]) => facts({ configMaps, nodes }).masters.at(-1);
    expect(stranger([])).toMatchObject({ name: 'master-9', isLeaving: true, isGone: true });
    expect(stranger([nodeObject('master-9', '10.99.0.99', [])])).toMatchObject({ isLeaving: true, isGone: false });
  });

  test('in an open inventory whoever says so is a master', () => {
    const open = { isClosed: false, machines: [] };
    const { masters } = facts({ inventory: open, configMaps: [record('any')] });
    expect(masters).toMatchObject([
      { name: 'any', peerUrl: 'https://10.99.0.99:2380', isLeaving: false, isGone: false },
    ]);
  });

  test('a node that is marked or being deleted is leaving', () => {
    const node = nodeObject('master-1', '10.99.0.12', []);
    const marked = { ...node, metadata: { ...node.metadata, annotations: { [leavingAnnotation]: 'true' } } };
    const deleted = { ...node, metadata: { ...node.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    for (const each of [marked, deleted]) expect(facts({ nodes: [each] }).masters[1]?.isLeaving).toBe(true);
    expect(facts({ nodes: [node] }).masters[1]?.isLeaving).toBe(false);
  });
});

describe('what they say', () => {
  test('readiness has the age it has by the clock of the reader, also when the other clock is wrong', () => {
    const wrong = { at: new Date('2026-01-01T01:00:15Z'), clockOffsetMs: 3_600_000 };
    const ages = [record('master-1'), record('master-1', wrong)].map(
      (each) => facts({ configMaps: [each] }).masters[1]?.readiness?.agoMs,
    );
    expect(ages).toEqual([5_000, 5_000]);
  });

  test('a master that is not ready, that lost its data or has no disk left, says so', () => {
    const said = { lostDataOf: 'ab12' as MemberId, freeDiskBytes: 4096 };
    const { masters } = facts({ configMaps: [record('master-0', { isReady: false, ...said })] });
    expect(masters[0]).toMatchObject({ readiness: undefined, ...said });
    expect(masters[1]).toMatchObject({ readiness: undefined, lostDataOf: undefined });
  });
});

test('how far the handoff is: the record, the published members, the ready API servers', () => {
  expect(facts().handoff).toMatchObject({ isCommitted: false, publishedMembers: undefined });
  const configMaps = [
    configMap('bootstrap', { status: 'complete' }),
    configMap('etcd-endpoints', { ab12: 'https://10.99.0.11:2379' }),
  ];
  expect(facts({ configMaps, readyApiServers: ['master-0'] }).handoff).toEqual({
    isCommitted: true,
    publishedMembers: ['ab12'],
    readyApiServers: ['master-0'],
    bootstrapApi: 'answers',
  });
});
