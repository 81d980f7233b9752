import { expect, test } from 'vitest';
import { selects } from './label-selector.ts';
import type { LabelSelector } from './machine-config.ts';

type Expression = LabelSelector['matchExpressions'][number];
const select = (matchLabels: Record<string, string>, ...matchExpressions: Expression[]): LabelSelector => ({
  matchLabels,
  matchExpressions,
});

test.each<[string, LabelSelector | undefined, Record<string, string>, boolean]>([
  ['no selector selects nothing', undefined, { a: '1' }, false],
  ['an empty selector selects nothing', select({}), { a: '1' }, false],
  ['equal labels', select({ a: '1' }), { a: '1', b: '2' }, true],
  ['another value', select({ a: '1' }), { a: '2' }, false],
  ['In', select({}, { key: 'a', operator: 'In', values: ['1', '2'] }), { a: '2' }, true],
  ['In without the label', select({}, { key: 'a', operator: 'In', values: ['1'] }), {}, false],
  ['NotIn without the label', select({}, { key: 'a', operator: 'NotIn', values: ['1'] }), {}, true],
  ['NotIn with the value', select({}, { key: 'a', operator: 'NotIn', values: ['1'] }), { a: '1' }, false],
  ['Exists', select({}, { key: 'a', operator: 'Exists', values: [] }), { a: '' }, true],
  ['DoesNotExist', select({}, { key: 'a', operator: 'DoesNotExist', values: [] }), { a: '' }, false],
  [
    'labels and expressions together',
    select({ a: '1' }, { key: 'b', operator: 'Exists', values: [] }),
    { a: '1' },
    false,
  ],
])('%s', (_, selector, labels, expected) => {
  expect(selects(selector, labels)).toBe(expected);
});
