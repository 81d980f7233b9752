import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type KnownToken, OutstandingTokens } from './outstanding-tokens.ts';

// Few ids, so that they come again; among them the smallest and the largest.
const ids = ['000000', 'zzzzzz', ...Array.from({ length: 300 }, (_, index) => index.toString(36).padStart(6, 'a'))];
const id = fc.constantFrom(...ids);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add'), id, pool: fc.constantFrom('master', 'worker', 'ü') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('keys'), id, isGiven: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.nat(60) }) },
);

test('whatever is added, removed and ended, it knows what a Map of objects knows', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const table = new OutstandingTokens();
      const map = new Map<string, KnownToken>();
      let nowMs = 1_700_000_000_000;
      for (const [index, one] of steps.entries()) {
        nowMs += 1;
        if ('pool' in one) {
          const token = `${one.id}.${index.toString(36).padStart(16, 'q')}`;
          const known = { token, pool: one.pool, expiresAtMs: nowMs + 100, keysGiven: undefined };
          expect(table.add(known)).toBe(!map.has(one.id));
          if (!map.has(one.id)) map.set(one.id, known);
        } else if ('isGiven' in one) {
          const keysGiven = one.isGiven ? { atMs: nowMs, redemption: `of ${index}` } : undefined;
          table.setKeysGiven(one.id, keysGiven);
          const known = map.get(one.id);
          if (known !== undefined) map.set(one.id, { ...known, keysGiven });
        } else if ('ms' in one) {
          nowMs += one.ms;
          table.forgetExpired(nowMs);
          for (const [key, { expiresAtMs }] of map) if (expiresAtMs <= nowMs) map.delete(key);
        } else if (one.kind === 'delete' && 'id' in one) {
          table.delete(one.id);
          map.delete(one.id);
        }
        expect(table.size).toBe(map.size);
      }
      for (const key of ids) {
        expect(table.get(key)).toEqual(map.get(key));
      }
    }),
  );
});

test('what is no token is not there, whoever asks', () => {
  const table = new OutstandingTokens();
  for (const token of ['', 'short', 'ABCDEF.0123456789abcdef', 'abcdef.0123', 'äbcdef.0123456789abcdef']) {
    expect(table.add({ token, pool: 'master', expiresAtMs: 1, keysGiven: undefined })).toBe(false);
    expect(table.get(token.slice(0, 6))).toBeUndefined();
  }
  expect(table.size).toBe(0);
});

test('a disk that fails for long leaves nothing behind', () => {
  const table = new OutstandingTokens();
  const add = (number: number): string => {
    const name = number.toString(36).padStart(6, '0');
    table.add({ token: `${name}.0123456789abcdef`, pool: 'master', expiresAtMs: 1_000, keysGiven: undefined });
    return name;
  };
  const kept = add(1_000_000);
  for (let number = 0; number < 100_000; number += 1) table.delete(add(number));
  expect(table.size).toBe(1);
  expect(table.get(kept)?.token).toBe(`${kept}.0123456789abcdef`);
  expect(table.bytes).toBeLessThan(10_000);
});
