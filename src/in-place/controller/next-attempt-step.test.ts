import { describe, expect, test } from 'vitest';
import { type AttemptStep, nextAttemptStep, type ObservedAttempt } from './next-attempt-step.ts';
import type { NodeSnapshot } from './node-snapshot.ts';
import { type SampleStatus, sampleAttempt, sampleNode } from './sample-attempt.ts';

const snapshot: NodeSnapshot = {
  node: 'w1',
  uid: 'u1',
  bootId: 'boot-1',
  takenAt: '2026-01-01T00:00:00.000Z',
  labels: { app: 'a', team: 't' },
  taints: [],
  unschedulable: true,
  annotations: {},
};

function step(status: SampleStatus, more: Partial<ObservedAttempt> = {}): AttemptStep {
  return nextAttemptStep({
    attempt: sampleAttempt(status),
    node: sampleNode,
    snapshot,
    rival: '',
    isOnlyMaster: false,
    isDrained: false,
    now: new Date('2026-01-01T00:00:10.000Z'),
    ...more,
  });
}

const later = (minutes: number) => ({ now: new Date(Date.parse('2026-01-01T00:00:00.000Z') + minutes * 60_000) });

describe('the beginning', () => {
  const unbegun = { history: [] };
  test('is the claim, then the snapshot', () => {
    expect(step(unbegun, { node: { ...sampleNode, claim: '' } })).toEqual({ kind: 'claim' });
    expect(step(unbegun)).toEqual({ kind: 'begin' });
  });

  test('waits for a change of machine configuration, and for another attempt on the node', () => {
    const working = { ...sampleNode, claim: '', configState: 'Working' } as const;
    expect(step(unbegun, { node: working })).toMatchObject({
      kind: 'rest',
      waitsFor: expect.stringContaining('daemon'),
    });
    expect(step(unbegun, { rival: 'w1.other' })).toMatchObject({
      kind: 'rest',
      waitsFor: expect.stringContaining('w1.other'),
    });
  });

  test('is refused on the only master: nobody could say that its label is gone', () => {
    expect(step(unbegun, { isOnlyMaster: true })).toMatchObject({ kind: 'fail', failure: { code: 'OnlyMaster' } });
  });
});

describe('what the machine reports', () => {
  test('is followed, every phase of it, when reports come together', () => {
    expect(step({ phase: 'Ready', command: 'none', reported: ['Preflight', 'Ready', 'KubeletStopped'] })).toEqual({
      kind: 'advance',
      phases: ['KubeletStopped'],
    });
    expect(step({ phase: 'Applying', reported: ['Applying', 'Rebooting', 'Booted', 'Joining'] })).toEqual({
      kind: 'advance',
      phases: ['Rebooting', 'Booted', 'Joining'],
    });
  });

  test('never takes an attempt back, and never ends it well', () => {
    expect(
      step({ phase: 'Applying', reported: ['Preflight', 'Ready', 'Applying', 'Restoring', 'Succeeded'] }).kind,
    ).toBe('rest');
  });

  test('ends it with phase, code and message', () => {
    expect(step({ phase: 'Applying', reported: ['Applying', 'RolledBack'] })).toEqual({
      kind: 'advance',
      phases: ['RolledBack'],
      failure: { phase: 'Applying', code: 'Code', message: 'said' },
    });
  });

  test('counts in Ready, too, when the pod was killed and checks again', () => {
    expect(step({ phase: 'Ready', reported: ['Preflight', 'Ready', 'PreflightFailed'] })).toMatchObject({
      kind: 'advance',
      phases: ['PreflightFailed'],
    });
  });
});

describe('a node that is ready for its change', () => {
  test('is drained while the machine waits, and released when it is empty', () => {
    expect(step({ phase: 'Ready' }).kind).toBe('drain');
    expect(step({ phase: 'Ready' }, { isDrained: true })).toEqual({ kind: 'release' });
    expect(step({ phase: 'Ready', command: 'none' }, { isDrained: true }).kind).toBe('rest');
  });

  test('is given up when somebody takes the label or the cordon away', () => {
    expect(step({ phase: 'Ready' }, { node: { ...sampleNode, isScheduled: false } })).toMatchObject({
      failure: { code: 'Unscheduled' },
    });
    expect(step({ phase: 'Ready' }, { node: { ...sampleNode, isCordoned: false } })).toMatchObject({
      failure: { code: 'Uncordoned' },
    });
  });
});

describe('the label', () => {
  test('is removed once the kubelet is stopped, and not before', () => {
    expect(step({ phase: 'KubeletStopped', command: 'none' })).toEqual({ kind: 'clear' });
    for (const phase of ['Scheduled', 'Preflight', 'Ready'] as const) expect(step({ phase }).kind).not.toBe('clear');
  });

  test('that is set again later is left alone', () => {
    const cleared = { version: '9', bootId: 'boot-1', at: '' };
    expect(step({ phase: 'KubeletStopped', command: 'cleared', cleared }).kind).toBe('rest');
    expect(step({ phase: 'Applying', command: 'cleared', cleared }).kind).toBe('rest');
  });
});

describe('a person who ends it', () => {
  const isAborted = true;
  test('ends it at once while the machine waits', () => {
    for (const phase of ['Scheduled', 'Preflight', 'Ready'] as const) {
      expect(step({ phase, isAborted })).toMatchObject({ kind: 'fail', failure: { code: 'Aborted' } });
    }
  });

  test('is told to the machine until it was told that the label is gone', () => {
    expect(step({ phase: 'Ready', command: 'none', isAborted })).toEqual({ kind: 'tell-abort' });
    expect(step({ phase: 'KubeletStopped', command: 'none', isAborted })).toEqual({ kind: 'tell-abort' });
    expect(step({ phase: 'KubeletStopped', command: 'abort', isAborted }).kind).toBe('rest');
    expect(step({ phase: 'KubeletStopped', command: 'cleared', isAborted }).kind).toBe('rest');
    expect(step({ phase: 'Applying', command: 'cleared', isAborted }).kind).toBe('rest');
  });
});

describe('time', () => {
  test.each([
    ['Preflight', 10, 'PreflightFailed', 'PreflightTimeout'],
    ['Ready', 60, 'Failed', 'DrainTimeout'],
    ['KubeletStopped', 10, 'Failed', 'LabelClearTimeout'],
    ['LabelCleared', 10, 'Failed', 'NotApplied'],
    ['Applying', 45, 'RolledBack', 'ApplyTimeout'],
    ['BaseDone', 5, 'Failed', 'RebootNotHappened'],
    ['Rebooting2', 15, 'Failed', 'RebootNotHappened'],
    ['KubeApplying', 45, 'RolledBack', 'ApplyTimeout'],
    ['Rebooting', 15, 'Failed', 'RebootNotHappened'],
    ['Booted', 5, 'Failed', 'KubeletNotStarted'],
    ['Joining', 15, 'Failed', 'JoinTimeout'],
  ] as const)('%s ends after %i minutes as %s(%s)', (phase, minutes, end, code) => {
    const node = { ...sampleNode, isReady: false };
    expect(step({ phase }, { ...later(minutes - 0.1), node }).kind).not.toBe('fail');
    expect(step({ phase }, { ...later(minutes), node })).toMatchObject({
      kind: 'fail',
      phase: end,
      failure: { phase, code },
    });
  });

  test('an attempt whose pod never starts ends some time after its Secret does', () => {
    expect(step({ phase: 'Scheduled' }, later(134)).kind).toBe('rest');
    expect(step({ phase: 'Scheduled' }, later(135))).toMatchObject({ kind: 'fail', failure: { code: 'NotStarted' } });
  });

  test('that is over says what was missing: why the node is not Ready, or that the label is still there', () => {
    const notReady = 'container runtime network not ready';
    const joining = step({ phase: 'Joining' }, { ...later(15), node: { ...sampleNode, isReady: false, notReady } });
    expect(joining).toMatchObject({ failure: { message: expect.stringContaining(`w1 to be Ready: ${notReady}`) } });
    const stopped = step({ phase: 'KubeletStopped', command: 'none' }, later(10));
    expect(stopped).toMatchObject({ failure: { message: expect.stringContaining('the label of w1 to be removed') } });
  });

  test('a node whose kubelet is silent starts no pod, and the way without one is named', () => {
    const silent = { ...sampleNode, isReady: false, isSilent: true };
    expect(step({ phase: 'Scheduled' }, { node: silent })).toMatchObject({
      kind: 'rest',
      waitsFor: expect.stringContaining('firstlight ipb adopt w1'),
    });
  });

  test('never ends the restoration', () => {
    expect(step({ phase: 'Restoring' }, { ...later(10_000), node: undefined }).kind).toBe('rest');
  });
});

describe('a node that is back', () => {
  const back = { ...sampleNode, bootId: 'boot-2', isScheduled: false };

  test('is Ready in another boot than before', () => {
    expect(step({ phase: 'Joining' }).kind).toBe('rest');
    expect(step({ phase: 'Joining' }, { node: { ...back, isReady: false } }).kind).toBe('rest');
    expect(step({ phase: 'Joining' }, { node: back })).toEqual({ kind: 'begin-restoring' });
    expect(step({ phase: 'Booted' }, { node: back })).toEqual({ kind: 'begin-restoring' });
    expect(step({ phase: 'Rebooting' }, { node: back }).kind).toBe('rest');
  });

  test('gets its labels, then loses cordon, taint and claim, then the attempt has succeeded', () => {
    expect(step({ phase: 'Restoring' }, { node: back })).toEqual({
      kind: 'restore',
      labels: { team: 't' },
      taints: [],
    });
    const whole = { ...back, labels: snapshot.labels };
    expect(step({ phase: 'Restoring' }, { node: whole })).toEqual({ kind: 'give-back' });
    expect(step({ phase: 'Restoring' }, { node: { ...whole, claim: '' } })).toEqual({ kind: 'succeed' });
  });

  test('and was made anew meanwhile is claimed again first', () => {
    expect(step({ phase: 'Joining' }, { node: { ...back, uid: 'u2', claim: '' } })).toEqual({ kind: 'claim' });
  });
});

test('an attempt that ended lets its node go; an end by a person takes the label too', () => {
  const failure = { phase: 'Ready', code: 'DrainTimeout', message: '' } as const;
  expect(step({ phase: 'Failed', failure })).toEqual({ kind: 'let-go', dropsLabels: false });
  expect(step({ phase: 'Failed', failure: { ...failure, code: 'Aborted' } })).toEqual({
    kind: 'let-go',
    dropsLabels: true,
  });
  expect(step({ phase: 'Failed', failure }, { node: { ...sampleNode, claim: '' } }).kind).toBe('rest');
});

test('a machine that is adopted is not drained and has no label to lose', () => {
  const adopted = (status: SampleStatus) => ({ attempt: sampleAttempt(status, { isAdoption: true }), node: undefined });
  expect(step({}, adopted({ history: [] }))).toEqual({ kind: 'begin' });
  expect(step({}, adopted({ phase: 'Ready' }))).toEqual({ kind: 'release' });
  expect(step({}, adopted({ phase: 'KubeletStopped', command: 'none' }))).toEqual({ kind: 'clear' });
  const joined = { ...adopted({ phase: 'Joining' }), snapshot: undefined, node: { ...sampleNode, claim: '' } };
  expect(step({}, joined)).toEqual({ kind: 'begin-restoring' });
  expect(step({}, { ...joined, attempt: sampleAttempt({ phase: 'Restoring' }, { isAdoption: true }) })).toEqual({
    kind: 'succeed',
  });
});
