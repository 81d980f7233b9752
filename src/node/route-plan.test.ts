import { describe, expect, test } from 'vitest';
import { controlPlane, inventory as listed, nodeObject } from '../../test/sim/agent-fixture.ts';
import { type Inventory, inventorySchema } from '../contract/inventory.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { planRoutes, type RouteJudgement } from './route-plan.ts';

const closed = inventorySchema.parse(listed);
const open: Inventory = { isClosed: false, machines: [] };
const facts: RouteJudgement = {
  ...controlPlane,
  apiVips: ['10.99.0.1'],
  machineNetworks: ['10.99.0.0/24'],
  inventory: closed,
  own: { name: 'master-1', addresses: ['10.99.0.12'] },
};

const self = nodeObject('master-1', '10.99.0.12', ['10.128.2.0/23']);
const peer = made(nodeObject('master-0', '10.99.0.11', ['10.128.0.0/23']), '2026-01-01T00:00:00Z');
const honest = { range: '10.128.0.0/23', via: '10.99.0.11' };

function made(node: KubernetesObject, creationTimestamp: string): KubernetesObject {
  return { ...node, metadata: { ...node.metadata, creationTimestamp } };
}

/** A younger node with these ranges and this address, beside an honest one. */
function attack(range: string, address = '10.99.0.21', change: Partial<RouteJudgement> = {}) {
  const hostile = made(nodeObject('worker-0', address, [range]), '2026-01-02T00:00:00Z');
  const { routes, refused } = planRoutes([hostile, self, peer], { ...facts, ...change });
  return {
    added: routes.filter(({ range: other }) => other !== honest.range),
    keeps: routes.some((route) => route.range === honest.range && route.via === honest.via),
    refused,
  };
}

describe('a route to the pods of a node', () => {
  test('is set for a part of the pod network, through the address of the inventory', () => {
    expect(attack('10.128.4.0/23')).toEqual({
      added: [{ range: '10.128.4.0/23', via: '10.99.0.21' }],
      keeps: true,
      refused: [],
    });
  });

  test.each([
    '0.0.0.0/0',
    '10.99.0.1/32',
    '10.99.0.0/23',
    '172.30.0.0/23',
    '10.128.0.0/14',
    '10.128.4.0/22',
    '10.128.4.0/24',
    '10.128.4.1/23',
    '10.132.0.0/23',
    '012.128.4.0/23',
    '10.128.4/23',
    '10.128.4.0/023',
    '::/0',
    '::ffff:10.128.4.0/119',
    '::ffff:10.128.4.0/23',
    'fd01::/64',
    'garbage',
    '10.128.4.0/23 via 10.99.0.9',
  ])('is not set for %s', (range) => {
    const { added, keeps, refused } = attack(range);
    expect({ added, keeps }).toEqual({ added: [], keeps: true });
    expect(refused).toEqual([expect.stringContaining('worker-0 gets no route for')]);
    expect(refused[0]).toContain('not one part, of the size /23, of the pod network 10.128.0.0/14');
  });

  test('is not set for the range of an older node, nor for that of this machine', () => {
    expect(attack('10.128.0.0/23')).toMatchObject({
      added: [],
      keeps: true,
      refused: [expect.stringContaining('master-0 has it')],
    });
    expect(attack('10.128.2.0/23')).toMatchObject({
      added: [],
      keeps: true,
      refused: [expect.stringContaining('master-1 has it')],
    });
  });

  test('stays with the older node, in whatever order the API lists them', () => {
    const thief = made(nodeObject('worker-0', '10.99.0.21', ['10.128.0.0/23']), '2026-01-02T00:00:00Z');
    for (const nodes of [
      [thief, peer, self],
      [self, peer, thief],
    ]) {
      expect(planRoutes(nodes, facts).routes).toEqual([honest]);
    }
  });
});

describe('the address that a node reports', () => {
  test.each(['10.99.0.1', '10.99.0.12', '10.99.0.11', '203.0.113.9', '::ffff:10.99.0.1', 'garbage', '0.0.0.0'])(
    '%s changes nothing where the inventory lists the machine',
    (address) => {
      expect(attack('10.128.4.0/23', address)).toEqual({
        added: [{ range: '10.128.4.0/23', via: '10.99.0.21' }],
        keeps: true,
        refused: [],
      });
    },
  );

  test.each([
    ['10.99.0.1', 'the load balancer'],
    ['10.99.0.12', 'this machine'],
    ['10.99.0.11', 'master-0'],
    ['::ffff:10.99.0.1', 'no address of the family'],
    ['fd00::21', 'no address of the family'],
    ['203.0.113.9', 'not in the machine network'],
    ['garbage', 'no address of the family'],
  ])('%s gets it no route where the inventory is open: %s', (address, why) => {
    const { added, keeps, refused } = attack('10.128.4.0/23', address, { inventory: open });
    expect({ added, keeps }).toEqual({ added: [], keeps: true });
    expect(refused).toEqual([expect.stringContaining(why)]);
  });

  test('is taken where the inventory is open and nothing speaks against it', () => {
    expect(attack('10.128.4.0/23', '10.99.0.77', { inventory: open }).added).toEqual([
      { range: '10.128.4.0/23', via: '10.99.0.77' },
    ]);
  });

  test('does not make a machine of one that a closed inventory does not list', () => {
    const stranger = nodeObject('evil', '10.99.0.77', ['10.128.4.0/23']);
    expect(planRoutes([stranger, self, peer], facts)).toEqual({
      routes: [honest],
      refused: ['evil gets no route for "10.128.4.0/23": it is not in the inventory'],
    });
  });

  test('is looked for in the family of the range', () => {
    const dual = { podNetwork: 'fd01::/48', podPrefix: 64, machineNetworks: ['fd00::/64'], inventory: open };
    const node = nodeObject('worker-0', '10.99.0.21', ['fd01:0:0:2::/64']);
    const addresses = [
      { type: 'InternalIP', address: '10.99.0.21' },
      { type: 'InternalIP', address: 'fd00::0:21' },
    ];
    expect(planRoutes([self, { ...node, status: { addresses } }], { ...facts, ...dual }).routes).toEqual([
      { range: 'fd01:0:0:2::/64', via: 'fd00::21' },
    ]);
  });
});
