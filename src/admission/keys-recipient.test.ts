import { describe, expect, test } from 'vitest';
import type { Inventory } from '../contract/inventory.ts';
import type { KnownNode } from './join-facts.ts';
import { keysRecipient } from './keys-recipient.ts';

const inventory: Inventory = {
  isClosed: true,
  machines: [
    { name: 'master-0', role: 'master', addresses: ['10.0.0.11'] },
    { name: 'master-1', role: 'master', addresses: ['10.0.0.12', 'fd00::12'] },
    { name: 'worker-0', role: 'worker', addresses: ['10.0.0.21'] },
  ],
};
const node = (name: string, isLive: boolean, ...addresses: string[]): KnownNode => ({
  name,
  isLive,
  isClaimed: false,
  addresses,
  createdAt: new Date(0),
});
const noNodes: readonly KnownNode[] = [];

describe('the keys of a master, where machines are listed', () => {
  test('are for a listed master at its own address', () => {
    const asked = (address: string) => keysRecipient({ address }, { inventory, nodes: noNodes });
    expect(asked('10.0.0.11')).toEqual({ status: 'expected', machine: 'master-0' });
    expect(asked('FD00:0::12')).toEqual({ status: 'expected', machine: 'master-1' });
    expect(asked('::ffff:10.0.0.11')).toEqual({ status: 'expected', machine: 'master-0' });
    for (const address of ['10.0.0.21', '10.0.0.99', 'nonsense']) {
      expect(asked(address)).toEqual({ status: 'refused', reason: 'not-listed' });
    }
  });

  test('are for no other machine than the one that the token was issued to', () => {
    const asked = (address: string, issuedTo: string) =>
      keysRecipient({ address, issuedTo }, { inventory, nodes: noNodes });
    expect(asked('10.0.0.12', '10.0.0.11')).toEqual({ status: 'refused', reason: 'other-address' });
    expect(asked('10.0.0.12', 'fd00::12')).toEqual({ status: 'expected', machine: 'master-1' });
    const open = { inventory: { isClosed: false, machines: [] }, nodes: noNodes };
    expect(keysRecipient({ address: '10.0.0.12', issuedTo: '10.0.0.11' }, open)).toMatchObject({ status: 'refused' });
  });

  test('are not for the address of a master that runs, and are for one whose node no longer reports', () => {
    const at = (isLive: boolean) =>
      keysRecipient({ address: '10.0.0.11' }, { inventory, nodes: [node('master-0', isLive)] });
    expect(at(true)).toEqual({ status: 'refused', reason: 'live' });
    expect(at(false)).toEqual({ status: 'expected', machine: 'master-0' });
  });

  test('are for the machine whose kubelet joined with the same token a moment before', () => {
    const facts = { inventory, nodes: [node('master-0', true)] };
    expect(keysRecipient({ address: '10.0.0.11', usedBy: 'master-0' }, facts)).toMatchObject({ status: 'expected' });
    expect(keysRecipient({ address: '10.0.0.11', usedBy: 'master-1' }, facts)).toMatchObject({ status: 'refused' });
  });

  test('without an address they are given while a listed master is missing, and to nobody when all run', () => {
    const [first, second] = [node('master-0', true), node('master-1', true)];
    expect(keysRecipient({}, { inventory, nodes: noNodes })).toEqual({ status: 'expected' });
    expect(keysRecipient({}, { inventory, nodes: [first] })).toEqual({ status: 'expected', machine: 'master-1' });
    expect(keysRecipient({}, { inventory, nodes: [first, second] })).toEqual({ status: 'refused', reason: 'live' });
  });
});

test('where any machine may join, a node that runs at the address has its keys already', () => {
  const open = { isClosed: false, machines: [] };
  const nodes = [node('somebody', true, '10.0.0.11')];
  expect(keysRecipient({ address: '10.0.0.12' }, { inventory: open, nodes })).toEqual({ status: 'expected' });
  expect(keysRecipient({}, { inventory: open, nodes })).toEqual({ status: 'expected' });
  expect(keysRecipient({ address: '10.0.0.11' }, { inventory: open, nodes })).toEqual({
    status: 'refused',
    reason: 'live',
  });
  expect(keysRecipient({ address: '10.0.0.11', usedBy: 'somebody' }, { inventory: open, nodes })).toEqual({
    status: 'expected',
    machine: 'somebody',
  });
});
