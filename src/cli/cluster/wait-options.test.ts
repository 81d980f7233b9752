import { expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { elapsedText, waitedFor } from './wait-options.ts';

test.each([
  [930_000, '15m30s'],
  [44_600, '45s'],
  [60_000, '1m0s'],
  [3_723_000, '1h2m3s'],
  [3_600_000, '1h0m0s'],
  [0, '0s'],
])('%i ms are %s', (ms, expected) => {
  expect(elapsedText(ms)).toBe(expected);
});

test('a wait says its milestone and how long it took', async () => {
  const host = fakeHost();
  const safe = 'It is now safe to remove the bootstrap resources';
  expect(await waitedFor({ host }, safe, () => host.clock.sleep(930_000))).toEqual({
    data: { status: 'complete', elapsedSeconds: 930 },
    text: `${safe}\nTime elapsed: 15m30s\n`,
  });
});
