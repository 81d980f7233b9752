import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { RateLimit } from './rate-limit.ts';

test('each client has its share, then one per interval, whatever the others do', () => {
  const { clock } = fakeHost();
  const limit = new RateLimit(clock, { burst: 3, everyMs: 1_000 });
  const take = (address: string, count: number): number =>
    Array.from({ length: count }, () => limit.take(address)).filter(Boolean).length;
  expect(take('10.0.0.1', 100)).toBe(3);
  expect(take('10.0.0.2', 2)).toBe(2);
  clock.advance(2_000);
  expect(take('10.0.0.1', 100)).toBe(2);
  clock.advance(60_000);
  expect(take('10.0.0.1', 100)).toBe(3);
});

test('the addresses of one IPv6 network are one client', () => {
  const limit = new RateLimit(fakeHost().clock, { burst: 1, everyMs: 1_000 });
  const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', '::ffff:10.0.0.1', '10.0.0.1'];
  expect(addresses.map((address) => limit.take(address))).toEqual([true, false, true, true, false]);
});
