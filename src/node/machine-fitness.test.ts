import fc from 'fast-check';
import { expect, test } from 'vitest';
import { provenOffset } from './machine-fitness.ts';

test('what is reported never exceeds what the clocks really differ, and misses by less than a second and the way', () => {
  const ways = fc.record({
    serverMs: fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
    differenceMs: fc.integer({ min: -10_000, max: 10_000 }),
    thereMs: fc.integer({ min: 0, max: 500 }),
    backMs: fc.integer({ min: 0, max: 500 }),
  });
  fc.assert(
    fc.property(ways, ({ serverMs, differenceMs, thereMs, backMs }) => {
      const here = serverMs + differenceMs;
      const offset = provenOffset({
        sentMs: here - thereMs,
        receivedMs: here + backMs,
        serverDate: new Date(serverMs).toUTCString(),
      });
      expect(Math.abs(offset)).toBeLessThanOrEqual(Math.abs(differenceMs));
      expect(Math.abs(differenceMs - offset)).toBeLessThanOrEqual(1_000 + thereMs + backMs);
      expect(offset === 0 || Math.sign(offset) === Math.sign(differenceMs)).toBe(true);
    }),
  );
});

test('a server that tells no time proves nothing', () => {
  expect(provenOffset({ sentMs: 0, receivedMs: 1, serverDate: '' })).toBe(0);
});
