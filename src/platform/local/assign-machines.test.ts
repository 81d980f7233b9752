import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../host/fake/fake-random.ts';
import { parseMachineNetwork } from './addresses.ts';
import { assignMachines, checkNames } from './assign-machines.ts';

const base = {
  network: parseMachineNetwork('10.99.0.0/24'),
  image: { rootFolder: '/root', coredns: '/coredns', digest: 'image-1' },
  random: seededRandom('test'),
};
const ignition = Buffer.from('{}');
const request = (name: string, address?: string) => ({
  name,
  role: 'worker' as const,
  ignition,
  ...(address === undefined ? {} : { address }),
});
const assign = (requests: readonly ReturnType<typeof request>[], existing: ReturnType<typeof assignMachines> = []) =>
  assignMachines({ ...base, existing, requests });

describe('machines asked for', () => {
  test('get free addresses in order, around those that were asked for by address', () => {
    const machines = assign([request('a'), request('b', '10.99.0.10'), request('c')]);
    expect(machines.map(({ name, address }) => [name, address])).toEqual([
      ['a', '10.99.0.11'],
      ['b', '10.99.0.10'],
      ['c', '10.99.0.12'],
    ]);
    expect(new Set(machines.map((machine) => machine.machineId)).size).toBe(3);
  });

  test('that exist stay exactly as they are', () => {
    const existing = assign([request('a')]);
    expect(assign([request('a')], existing)[0]).toBe(existing[0]);
  });

  test.each([
    ['role', { role: 'master' as const }],
    ['address', { address: '10.99.0.77' }],
    ['Ignition config', { ignition: Buffer.from('{"ignition":{}}') }],
  ])('that exist with another %s are refused', (field, difference) => {
    const existing = assign([request('a')]);
    expect(() => assignMachines({ ...base, existing, requests: [{ ...request('a'), ...difference }] })).toThrow(
      `another ${field}`,
    );
  });

  test('that exist from another image are refused', () => {
    const existing = assign([request('a')]);
    const image = { ...base.image, digest: 'image-2' };
    expect(() => assignMachines({ ...base, image, existing, requests: [request('a')] })).toThrow('another image');
  });

  test.each([
    ['10.99.0.1', 'the address of the switch'],
    ['10.1.0.1', 'outside of'],
    ['10.99.0.10', 'belongs to a'],
  ])('cannot have %s: %s', (address, reason) => {
    const existing = assign([request('a')]);
    expect(() => assign([request('b', address)], existing)).toThrow(reason);
  });

  test('cannot share an address among themselves', () => {
    expect(() => assign([request('b', '10.99.0.30'), request('c', '10.99.0.30')])).toThrow('belongs to c');
  });
});

describe('names', () => {
  test.each(['a', 'master-0', 'x'.repeat(63)])('such as %s are fine', (name) => {
    expect(() => checkNames('demo', [{ name }])).not.toThrow();
  });
  test.each(['', 'A', 'a.b', '-a', 'a-', 'x'.repeat(64), 'api', 'api-int', '../x'])(
    'such as %j are refused',
    (name) => {
      expect(() => checkNames('demo', [{ name }])).toThrow('machine name');
    },
  );
  test('of clusters obey the same rules', () => {
    expect(() => checkNames('a/b', [])).toThrow('cluster name');
  });
});
