import { expect, test } from 'vitest';
import { handoffStageNames, mastersStageNames } from '../contract/bootstrap-stages.ts';
import { isPast, phaseOf, stageTitle } from './bootstrap-phase.ts';

const at = (stage: string, state: 'running' | 'done' | 'failed' = 'running', isComplete = false) => ({
  stage,
  state,
  at: '2026-01-01T00:00:00Z',
  isComplete,
});

test.each([
  [undefined, 'control plane'],
  [at('etcd'), 'control plane'],
  [at('api-verification'), 'control plane'],
  [at('api-verification', 'done'), 'masters'],
  [at('masters', 'done'), 'masters'],
  [at('control-planes'), 'masters'],
  [at('control-planes', 'failed'), 'masters'],
  [at('commit'), 'handoff'],
  [at('leave-etcd', 'done'), 'add-ons'],
  [at('add-ons', 'done'), 'add-ons'],
  [at('nodes', 'done'), 'add-ons'],
  [at('handoff', 'done', true), 'complete'],
  [at('a stage nobody knows'), 'control plane'],
])('%o is in the phase %s', (progress, phase) => {
  expect(phaseOf(progress)).toBe(phase);
});

test('every stage of the handoff belongs to a phase after the control plane', () => {
  for (const name of [...mastersStageNames, ...handoffStageNames])
    expect(['masters', 'handoff']).toContain(phaseOf(at(name)));
});

test('add-ons are over only when the last secret is gone', () => {
  expect(isPast(at('nodes', 'done'), 'add-ons')).toBe(false);
  expect(isPast(at('handoff', 'done', true), 'add-ons')).toBe(true);
});

test('stages of bootkube are called by their number', () => {
  expect(stageTitle('etcd')).toBe('bootkube 7 etcd');
  expect(stageTitle('commit')).toBe('commit');
});
