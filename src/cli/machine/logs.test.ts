import { expect, test } from 'vitest';
import { momentOf } from './logs.ts';

const now = new Date('2026-01-31T12:00:00Z');

test.each([
  ['30s', '2026-01-31T11:59:30.000Z'],
  ['2h', '2026-01-31T10:00:00.000Z'],
  ['1d', '2026-01-30T12:00:00.000Z'],
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
])('%s is a moment', (word, expected) => {
  expect(momentOf(word, now).toISOString()).toBe(expected);
});
