import { expect, test } from 'vitest';
import { dutyNames } from '../contract/duty-names.ts';
import { duties, dutiesOf } from './duties.ts';

test('a duty needs only duties that stand above it, so that the list can be read as a story', () => {
  for (const [index, { needs }] of duties.entries()) {
    const above = duties.slice(0, index).map(({ name }) => name);
    expect(needs.filter((name) => !above.includes(name))).toEqual([]);
  }
});

test('a worker has the duties of a node and no key', () => {
  expect(dutiesOf('worker').map(({ name }) => name)).toEqual([
    'kubelet',
    'cluster-view',
    'pod-network',
    'peer-routes',
    'kube-proxy',
    'machine-config',
    'machine-secrets',
    'registry-trust',
  ]);
});

test('every duty has a name of its own, which the workstation knows', () => {
  expect(duties.map(({ name }) => name)).toEqual(dutyNames);
  expect(new Set(dutyNames).size).toBe(duties.length);
});
