import { expect, test } from 'vitest';
import { unitHealth } from './unit-health.ts';

/** As `systemctl show` of systemd 257 prints it. */
function shown(...units: readonly Readonly<Record<string, string>>[]): string {
  const fine = { LoadState: 'loaded', ActiveState: 'active', SubState: 'running', Result: 'success', NRestarts: '0' };
  return units
    .map((unit) => ({ ...fine, Type: 'simple', ActiveEnterTimestampMonotonic: '5000000', ...unit }))
    .map((unit) => Object.entries(unit).map(([name, value]) => `${name}=${value}`))
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

const uptime = 100;

test('units that work are no trouble, and neither are those that have nothing to do', () => {
  const units = shown(
    { Id: 'a.service' },
    { Id: 'once.service', Type: 'oneshot', ActiveState: 'inactive', SubState: 'dead' },
    { Id: 'masked.service', LoadState: 'masked', ActiveState: 'inactive', SubState: 'dead' },
  );
  expect(unitHealth(units, uptime)).toEqual({ failed: [], starting: [] });
});

test('a failed unit is named with what systemd says of it', () => {
  const units = shown({ Id: 'a.service', ActiveState: 'failed', SubState: 'failed', Result: 'exit-code' });
  expect(unitHealth(units, uptime).failed).toEqual([
    { unit: 'a.service', text: 'a.service is failed (Result=exit-code)' },
  ]);
});

test('a unit that is restarted again and again is not up', () => {
  const units = shown({
    Id: 'a.service',
    ActiveState: 'activating',
    SubState: 'auto-restart',
    Result: 'exit-code',
    NRestarts: '3',
  });
  expect(unitHealth(units, uptime).starting[0]?.text).toBe(
    'a.service is activating (auto-restart, Result=exit-code, restarted 3 times)',
  );
});

test('a unit that does not say when it is up counts a second after its start', () => {
  const just = shown({ Id: 'a.service', ActiveEnterTimestampMonotonic: '99500000' });
  expect(unitHealth(just, uptime).starting).toHaveLength(1);
  expect(unitHealth(just, uptime + 1).starting).toHaveLength(0);
  const says = shown({ Id: 'a.service', Type: 'notify', ActiveEnterTimestampMonotonic: '99500000' });
  expect(unitHealth(says, uptime).starting).toHaveLength(0);
});

test('without kubelet and runtime the machine is no node', () => {
  const down = { ActiveState: 'inactive', SubState: 'dead', Type: 'notify' };
  expect(unitHealth(shown({ Id: 'kubelet.service', ...down }), uptime).starting).toHaveLength(1);
  expect(unitHealth(shown({ Id: 'containerd.service', ...down, LoadState: 'masked' }), uptime).failed).toHaveLength(1);
});
