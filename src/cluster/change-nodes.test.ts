import { expect, test } from 'vitest';
import type { Inventory } from '../contract/inventory.ts';
import { newWorkers } from './change-nodes.ts';

const machines: Inventory['machines'] = [
  { name: 'master-0', role: 'master', addresses: ['10.99.0.11'] },
  { name: 'worker-0', role: 'worker', addresses: ['10.99.0.21'] },
  { name: 'worker-7', role: 'worker', addresses: ['10.99.0.23'] },
];

test('new workers get the next addresses that nobody has', () => {
  expect(newWorkers(machines, ['worker-1', 'worker-2'], { network: '10.99.0.0/24' })).toEqual([
    { name: 'worker-1', role: 'worker', addresses: ['10.99.0.22'] },
    { name: 'worker-2', role: 'worker', addresses: ['10.99.0.24'] },
  ]);
});

test('a worker of a pool of the user is remembered with its pool', () => {
  const [added] = newWorkers(machines, ['infra-0'], { network: '10.99.0.0/24', pool: 'infra' });
  expect(added).toEqual({ name: 'infra-0', role: 'worker', addresses: ['10.99.0.22'], pool: 'infra' });
});

test('a name that is taken is refused', () => {
  expect(() => newWorkers(machines, ['master-0'], { network: '10.99.0.0/24' })).toThrow(
    'master-0 is a master of this cluster already',
  );
});
