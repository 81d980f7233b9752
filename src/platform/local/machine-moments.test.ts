import { expect, test } from 'vitest';
import { parseBackendLines, parseUnitEntries } from './machine-moments.ts';

test('units are read from the journal as systemd writes it, its own left out', () => {
  const lines = [
    { __REALTIME_TIMESTAMP: '1794731098000000', MESSAGE_ID: 'f77379a8490b408bbe5f6940505a777b' },
    {
      __REALTIME_TIMESTAMP: '1794731099500000',
      MESSAGE_ID: '7d4958e842da4a758f6c1cdc7b36dcc5',
      UNIT: 'kubelet.service',
    },
    {
      __REALTIME_TIMESTAMP: '1794731099600000',
      MESSAGE_ID: '7d4958e842da4a758f6c1cdc7b36dcc5',
      UNIT: 'systemd-x.service',
    },
    {
      __REALTIME_TIMESTAMP: '1794731100250000',
      MESSAGE_ID: '39f53479d3a045ac8e11786248231fbf',
      UNIT: 'kubelet.service',
    },
    { __REALTIME_TIMESTAMP: '1794731100300000', MESSAGE_ID: '39f53479d3a045ac8e11786248231fbf', UNIT: 'basic.target' },
  ].map((entry) => JSON.stringify(entry));
  expect(parseUnitEntries(`${lines.join('\n')}\n`)).toEqual([
    { at: '2026-11-15T08:24:58.000Z', by: 'systemd', step: 'systemd', state: 'began' },
    { at: '2026-11-15T08:24:59.500Z', by: 'systemd', step: 'kubelet', state: 'began' },
    { at: '2026-11-15T08:25:00.250Z', by: 'systemd', step: 'kubelet', state: 'done' },
  ]);
});

test('the load balancer says from when to when it used a backend, in lines of haproxy', () => {
  const text = [
    '[WARNING]  (31460) : Server api/bootstrap is DOWN, reason: Layer4 timeout, check duration: 200ms.',
    '2026-11-15T08:24:57.727000+00:00 Server api/bootstrap is DOWN, reason: Layer4 connection problem, info: "x".',
    '2026-11-15T08:25:08.777000+00:00 Server api/bootstrap is UP, reason: Layer7 check passed, code: 200.',
    '2026-11-15T08:25:09.100000+00:00 Server config-server/master-0 is UP, reason: Layer7 check passed, code: 200.',
  ].join('\n');
  expect(parseBackendLines(text).map(({ at, step, state }) => [at, step, state])).toEqual([
    ['2026-11-15T08:24:57.727Z', '6443 bootstrap', 'done'],
    ['2026-11-15T08:25:08.777Z', '6443 bootstrap', 'began'],
    ['2026-11-15T08:25:09.100Z', '22623 master-0', 'began'],
  ]);
});
