import { describe, expect, test } from 'vitest';
import type { JoinFacts } from './join-facts.ts';
import { knownNode } from './join-facts.ts';
import { missingLabels, rolesOf } from './node-roles.ts';

const used = (by: string, pool: string): JoinFacts['tokens'][number] => ({
  id: 'abc123',
  pool,
  expiresAt: new Date(),
  used: { by, requestUid: 'u', at: new Date() },
  resourceVersion: '1',
});
const facts: Pick<JoinFacts, 'inventory' | 'tokens'> = {
  inventory: {
    isClosed: true,
    machines: [
      { name: 'bootstrap', role: 'bootstrap', addresses: [] },
      { name: 'master-0', role: 'master', addresses: [] },
      { name: 'worker-0', role: 'worker', addresses: [] },
      { name: 'infra-0', role: 'worker', addresses: [] },
    ],
  },
  tokens: [used('infra-0', 'infra'), used('joiner', 'worker')],
};

describe('the roles of a node', () => {
  test.each([
    ['master-0', ['master', 'control-plane']],
    ['worker-0', ['worker']],
    ['infra-0', ['worker', 'infra']],
    ['joiner', ['worker']],
    ['bootstrap', []],
    ['nobody', []],
  ])('%s has %j', (name, roles) => {
    expect(rolesOf(name, facts)).toEqual(roles);
  });

  test('only labels that are missing are added, whatever their value', () => {
    const labels = { 'node-role.kubernetes.io/master': 'yes' };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'master-0', labels } };
    expect(missingLabels(node, { ...facts, poolLabels: new Map() })).toEqual({
      'node-role.kubernetes.io/control-plane': '',
    });
  });
});

test('a node that joined a pool of the user gets what that pool selects by together with its roles, until its token goes', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'infra-0', labels: { rack: 'mine' } } };
  const poolLabels = new Map([['infra', { tier: 'infra', rack: '1' }]]);
  expect(missingLabels(node, { ...facts, poolLabels })).toEqual({
    'node-role.kubernetes.io/worker': '',
    'node-role.kubernetes.io/infra': '',
    tier: 'infra',
  });
  expect(missingLabels(node, { ...facts, tokens: [], poolLabels })).toEqual({ 'node-role.kubernetes.io/worker': '' });
});

describe('a node', () => {
  const node = (status: object) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, status });
  test('is live unless the node controller has given it up', () => {
    const ready = (value: string) => node({ conditions: [{ type: 'Ready', status: value }] });
    expect(['True', 'False', 'Unknown'].map((value) => knownNode(ready(value)).isLive)).toEqual([true, true, false]);
    expect(knownNode(node({ conditions: null, addresses: null }))).toMatchObject({
      name: 'n',
      isLive: true,
      addresses: [],
    });
  });

  test('has the addresses of both its kinds, and not its names', () => {
    const addresses = [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'ExternalIP', address: 'fd00::1' },
      { type: 'Hostname', address: 'n' },
    ];
    expect(knownNode(node({ addresses })).addresses).toEqual(['10.0.0.1', 'fd00::1']);
  });
});
