import { expect, test } from 'vitest';
import { namesInShort } from './machines.ts';

test.each([
  [['bootstrap', 'master-0', 'master-1', 'master-2', 'worker-0'], 'bootstrap, master-0..2, worker-0'],
  [['worker-0', 'worker-2', 'worker-3'], 'worker-0, worker-2..3'],
  [['a', 'b'], 'a, b'],
  [[], ''],
])('%j is %s', (names, short) => {
  expect(namesInShort(names)).toBe(short);
});
