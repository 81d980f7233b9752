import { describe, expect, test } from 'vitest';
import { projectionDigest, projectOnto } from './live-projection.ts';

const base = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { ours: '1' } } };
const desired = { ...base, data: { key: 'value' }, list: [{ name: 'x' }] };
const answer = {
  ...base,
  metadata: { name: 'a', uid: 'u', resourceVersion: '7', labels: { ours: '1' } },
  data: { key: 'value' },
  // A default that the server puts in.
  list: [{ name: 'x', protocol: 'TCP' }],
};

test('a projection has the fields of the desired object and the values of the live one', () => {
  expect(projectOnto(desired, answer)).toEqual({ ...desired, list: answer.list });
  expect(projectOnto({ a: { b: 1 } }, { a: 'text' })).toEqual({ a: 'text' });
  expect(projectOnto({ a: 1, b: {} }, { b: { c: 2 } })).toEqual({ a: undefined, b: {} });
});

describe('compared with what the server answered', () => {
  const rows = [
    ['the same object is the same', answer, true],
    ['another version of it is the same', { ...answer, metadata: { ...answer.metadata, resourceVersion: '9' } }, true],
    ["a stranger's field is none of ours", { ...answer, data: { key: 'value', mine: 'x' }, status: {} }, true],
    [
      "a stranger's label is none of ours",
      { ...answer, metadata: { ...answer.metadata, labels: { ours: '1', x: 'y' } } },
      true,
    ],
    ['a changed field differs', { ...answer, data: { key: 'other' } }, false],
    ['a removed field differs', { ...answer, data: {} }, false],
    ['a removed part differs', { ...answer, data: undefined }, false],
    ['a changed item of a list differs', { ...answer, list: [{ name: 'x', protocol: 'UDP' }] }, false],
    ['an item more differs', { ...answer, list: [...answer.list, { name: 'y' }] }, false],
    ['an item less differs', { ...answer, list: [] }, false],
    ['a label that is gone differs', { ...answer, metadata: { ...answer.metadata, labels: {} } }, false],
  ] as const;

  test.each(rows)('%s', (_what, live, isSame) => {
    expect(projectionDigest(desired, live) === projectionDigest(desired, answer)).toBe(isSame);
  });
});
