import { expect, test } from 'vitest';
import { isBootstrapOver } from './bootstrap-progress.ts';
import { handoffComplete, handoffConfigMap, progressConfigMap, progressKey } from './cluster-objects.ts';

const now = new Date('2026-01-01T00:10:00.000Z');
const handoff = { metadata: { name: handoffConfigMap.name }, data: handoffComplete };

function progress(at: string, isComplete: boolean) {
  const text = JSON.stringify({ stage: 'add-ons', state: 'running', at, isComplete });
  return { metadata: { name: progressConfigMap.name }, data: { [progressKey]: text } };
}

test('a bootstrap is not over before the handoff', () => {
  expect(isBootstrapOver([], now)).toBe(false);
  expect(isBootstrapOver([progress('2026-01-01T00:09:59.000Z', true)], now)).toBe(false);
});

test('a bootstrap is over when its machine says so, and not while it works', () => {
  expect(isBootstrapOver([handoff, progress('2026-01-01T00:09:59.000Z', false)], now)).toBe(false);
  expect(isBootstrapOver([handoff, progress('2026-01-01T00:09:59.000Z', true)], now)).toBe(true);
});

test('a bootstrap is over when its machine is silent for a minute, or its progress is gone', () => {
  expect(isBootstrapOver([handoff, progress('2026-01-01T00:08:59.000Z', false)], now)).toBe(true);
  expect(isBootstrapOver([handoff], now)).toBe(true);
});
