import { describe, expect, test } from 'vitest';
import type { MachineChange } from './daemon-state.ts';
import { type DaemonView, nextDaemonStep, phaseAfterFiles, retryPauseMs } from './next-daemon-step.ts';

const now = new Date('2026-11-16T12:00:00Z');

function view(change: Partial<DaemonView> = {}): DaemonView {
  return {
    current: 'a',
    desired: 'a',
    lastAppliedDrain: undefined,
    node: { isReady: true, bootId: 'boot-1' },
    driftPolicy: 'Report',
    state: { format: 1 },
    drift: [],
    isForced: false,
    bootId: 'boot-1',
    pid: 7,
    now,
    ...change,
  };
}

function machineChange(change: Partial<MachineChange> = {}): MachineChange {
  return {
    from: 'a',
    to: 'b',
    direction: 'forward',
    reason: '',
    phase: 'draining',
    since: now.toISOString(),
    needsDrain: true,
    isForced: false,
    forward: { needsReboot: true, actions: [] },
    back: { needsReboot: true, actions: [] },
    actionsBegun: 0,
    bootId: 'boot-1',
    failedBefore: [],
    ...change,
  };
}

const under = (change: Partial<MachineChange>, rest: Partial<DaemonView> = {}): DaemonView =>
  view({ desired: 'b', state: { format: 1, change: machineChange(change) }, ...rest });

const kindOf = (seen: DaemonView): string => nextDaemonStep(seen).kind;

describe('without a change', () => {
  test('a machine that has what is wanted rests', () => {
    expect(kindOf(view())).toBe('rest');
    expect(kindOf(view({ desired: undefined }))).toBe('rest');
  });

  test('nothing is decided before the machine was compared with its config', () => {
    expect(kindOf(view({ drift: undefined, desired: 'b' }))).toBe('find-drift');
  });

  test('another config is prepared', () => {
    expect(nextDaemonStep(view({ desired: 'b' }))).toEqual({ kind: 'prepare', to: 'b', isForced: false });
  });

  test('a drifted machine takes no other config, unless a person forces it', () => {
    const drifted = view({ desired: 'b', drift: ['mode mismatch for file /x: 0600, should be 0644'] });
    expect(kindOf(drifted)).toBe('rest');
    expect(nextDaemonStep({ ...drifted, isForced: true })).toEqual({ kind: 'prepare', to: 'b', isForced: true });
  });

  test('drift is written back where the pool or a person wants it', () => {
    const drifted = view({ drift: ['content mismatch for file /x'] });
    expect(kindOf(drifted)).toBe('rest');
    expect(kindOf({ ...drifted, driftPolicy: 'Revert' })).toBe('rewrite');
    expect(kindOf({ ...drifted, isForced: true })).toBe('rewrite');
    expect(kindOf({ ...drifted, driftPolicy: 'Revert', desired: 'b' })).toBe('rewrite');
  });

  test('a failure before anything changed is tried again at its time', () => {
    const failure = { config: 'b', reason: 'r', state: 'Degraded', attempts: 1 } as const;
    const failed = (retryAt: string): DaemonView =>
      view({ desired: 'b', state: { format: 1, failure: { ...failure, retryAt } } });
    expect(kindOf(failed('2026-11-16T12:00:01Z'))).toBe('retry-later');
    expect(kindOf(failed('2026-11-16T12:00:00Z'))).toBe('prepare');
    expect(kindOf({ ...failed('2026-11-16T12:00:01Z'), isForced: true })).toBe('prepare');
    expect([1, 2, 3, 7, 40].map(retryPauseMs)).toEqual([1_000, 2_000, 4_000, 60_000, 60_000]);
  });

  test('a config that was undone is not tried again until another one is wanted', () => {
    const failure = { config: 'b', reason: 'r', state: 'Degraded', attempts: 1 } as const;
    const undone = view({ desired: 'b', state: { format: 1, failure } });
    expect(kindOf(undone)).toBe('rest');
    expect(kindOf({ ...undone, desired: 'c' })).toBe('prepare');
    expect(kindOf({ ...undone, desired: 'a' })).toBe('forget-failure');
    expect(kindOf({ ...undone, isForced: true })).toBe('prepare');
  });
});

describe('a change', () => {
  test('waits for the drain of exactly this config', () => {
    expect(kindOf(under({}))).toBe('await-drain');
    expect(kindOf(under({}, { lastAppliedDrain: 'drain-a' }))).toBe('await-drain');
    expect(kindOf(under({}, { lastAppliedDrain: 'uncordon-b' }))).toBe('await-drain');
    expect(kindOf(under({}, { lastAppliedDrain: 'drain-b' }))).toBe('apply');
    expect(kindOf(under({ needsDrain: false }))).toBe('apply');
  });

  test('is given up while it waits for its drain, and never later', () => {
    expect(kindOf(under({}, { desired: 'c' }))).toBe('abandon');
    expect(kindOf(under({}, { desired: undefined }))).toBe('await-drain');
    for (const phase of ['applying', 'acting', 'rebooting', 'verifying'] as const) {
      expect(kindOf(under({ phase }, { desired: 'c' }))).not.toBe('abandon');
    }
  });

  test('that could not be staged waits drained for its next attempt', () => {
    const failure = { config: 'b', reason: 'r', state: 'Degraded', attempts: 1 } as const;
    const failed = under({ needsDrain: false });
    const state = { ...failed.state, failure: { ...failure, retryAt: '2026-11-16T12:00:01Z' } };
    expect(kindOf({ ...failed, state })).toBe('retry-later');
    expect(kindOf({ ...failed, state, now: new Date('2026-11-16T12:00:02Z') })).toBe('apply');
  });

  test('goes on where it was when the daemon was killed, without the API', () => {
    const seen = { desired: undefined, drift: undefined };
    expect(kindOf(under({ phase: 'applying' }, seen))).toBe('apply');
    expect(kindOf(under({ phase: 'applying', direction: 'back' }, seen))).toBe('undo');
    expect(kindOf(under({ phase: 'rebooting' }, seen))).toBe('reboot');
    expect(kindOf(under({ phase: 'verifying' }, seen))).toBe('verify');
  });

  test('has rebooted when the machine has another boot id', () => {
    expect(kindOf(under({ phase: 'rebooting' }))).toBe('reboot');
    expect(kindOf(under({ phase: 'rebooting' }, { bootId: 'boot-2' }))).toBe('begin-verifying');
  });

  test('makes the actions of its direction, then verifies', () => {
    const forward = { needsReboot: false, actions: [{ kind: 'restart', unit: 'x.service' }] } as const;
    const acting = { phase: 'acting', forward } as const;
    expect(kindOf(under(acting))).toBe('act');
    expect(kindOf(under({ ...acting, actionsBegun: 1 }))).toBe('begin-verifying');
    expect(kindOf(under({ ...acting, direction: 'back' }))).toBe('begin-verifying');
  });

  test('that restarts the agent is continued by the next process, not by the one that ends', () => {
    const restarting = { phase: 'acting', actionsBegun: 1, restartingPid: 7 } as const;
    expect(kindOf(under(restarting))).toBe('await-own-restart');
    expect(kindOf(under(restarting, { pid: 8 }))).toBe('begin-verifying');
    expect(kindOf(under(restarting, { bootId: 'boot-2' }))).toBe('begin-verifying');
  });

  test('is followed by a reboot, by actions, or by nothing', () => {
    const next = (forward: MachineChange['forward']) => phaseAfterFiles(machineChange({ forward }));
    expect(next({ needsReboot: true, actions: [] })).toBe('rebooting');
    expect(next({ needsReboot: false, actions: [{ kind: 'daemon-reload' }] })).toBe('acting');
    expect(next({ needsReboot: false, actions: [] })).toBe('verifying');
  });
});
