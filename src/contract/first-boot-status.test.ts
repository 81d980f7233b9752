import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { describeFirstBoot, type FirstBootStatus, readFirstBootStatus } from './first-boot-status.ts';

const at = '2026-01-01T00:00:00.000Z';
const now = new Date('2026-01-01T00:00:12.000Z');
const base = { startedAt: at, updatedAt: at } as const;

test.each<[FirstBootStatus, string]>([
  [{ ...base, phase: 'fetch' }, 'first boot: fetch'],
  [{ ...base, phase: 'done', tookMs: 300 }, 'first boot done'],
  [{ ...base, phase: 'failed', reason: 'no such user' }, 'first boot failed: no such user'],
  [
    { ...base, phase: 'fetch', waitingFor: { url: 'https://x/config/master', attempts: 1, since: at } },
    'waiting for https://x/config/master, 12 s',
  ],
  [
    {
      ...base,
      phase: 'fetch',
      waitingFor: { url: 'https://x/c', attempts: 9, since: at, reason: 'connection refused' },
    },
    'waiting for https://x/c: connection refused, 12 s',
  ],
])('a person reads %o in one line', (status, line) => {
  expect(describeFirstBoot(status, now)).toBe(line);
});

test('a status that is cut off counts as none', async () => {
  const { files } = fakeHost();
  await files.makeFolder('/state');
  await files.write('/state/first-boot.json', '{"phase": "fet');
  expect(await readFirstBootStatus(files, '/state/first-boot.json')).toBeUndefined();
});
