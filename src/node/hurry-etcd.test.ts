import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { processStart } from './hurry-etcd.ts';

test('the kernel says when this very process began', () => {
  const read = processStart(readFileSync('/proc/self/stat', 'utf8'));
  const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ', 1)[0]) * 1000;
  const ageMs = uptimeMs - (read?.startedMs ?? 0);
  expect(Math.abs(ageMs - process.uptime() * 1000)).toBeLessThan(500);
});

test('a name with brackets and blanks is read whole', () => {
  const fields = Array.from({ length: 30 }, (_, n) => String(n)).join(' ');
  expect(processStart(`7 (a) b (c) ${fields}`)).toEqual({ name: 'a) b (c', startedMs: 190 });
});
