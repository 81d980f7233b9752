import { expect, test } from 'vitest';
import { TokenQuota, tokensPerAddress } from './token-quota.ts';

function setUp(limit: number) {
  const quota = new TokenQuota(limit);
  /** How many of so many requests are answered with a token. */
  const ask = (count: number, pool: string, issuedTo?: (index: number) => string): number => {
    let served = 0;
    for (let index = 0; index < count; index += 1) {
      const request = { pool, ...(issuedTo === undefined ? {} : { issuedTo: issuedTo(index) }) };
      if (quota.reached(request) !== undefined) continue;
      quota.add(request);
      served += 1;
    }
    return served;
  };
  return { quota, ask };
}

test('one address has its share, and the next address the same', () => {
  const { ask } = setUp(5_000);
  expect(ask(10_000, 'worker', () => '10.0.0.21')).toBe(tokensPerAddress);
  expect(ask(1, 'worker', () => '10.0.0.22')).toBe(1);
});

test('a hundred addresses that take what they can leave room for workers, and more for masters', () => {
  const { ask } = setUp(1_000);
  const attacker = (index: number): string => `10.1.0.${index % 100}`;
  expect(ask(100_000, 'worker', attacker)).toBeLessThanOrEqual(400);
  expect(ask(300, 'worker', (index) => `10.2.${index >> 8}.${index & 255}`)).toBe(300);
  expect(ask(100, 'master', (index) => `10.3.0.${index}`)).toBe(100);
});

test('where addresses are not known, workers without end leave a fifth for masters', () => {
  const { quota, ask } = setUp(1_000);
  expect(ask(100_000, 'worker')).toBe(800);
  expect(ask(100_000, 'other')).toBe(0);
  expect(ask(100_000, 'master')).toBe(200);
  quota.remove({ pool: 'worker' });
  expect(ask(10, 'worker')).toBe(1);
});
