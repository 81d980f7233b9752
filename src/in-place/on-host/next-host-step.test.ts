import { describe, expect, test } from 'vitest';
import type { HostAttempt } from '../../contract/in-place.ts';
import { inPlacePhases } from '../../contract/in-place.ts';
import { isEnd, isLater, phaseTable } from '../phases.ts';
import { type HostView, nextHostStep } from './next-host-step.ts';

const since = '2026-01-01T00:00:00.000Z';
const attemptIn = (phase: HostAttempt['phase'], changes: Partial<HostAttempt> = {}): HostAttempt => {
  return { attemptId: 'a', os: 'rhcos', phase, since, bootId: 'boot-1', seq: 1, history: [], ...changes };
};
const view = (phase: HostAttempt['phase'], changes: Partial<HostView> = {}): HostView => ({
  attempt: attemptIn(phase),
  bootId: 'boot-1',
  now: new Date(Date.parse(since) + 1_000),
  command: 'none',
  hasStopped: true,
  isHolding: true,
  work: 'prepared',
  trouble: undefined,
  ...changes,
});
const after = (minutes: number) => new Date(Date.parse(since) + minutes * 60_000);

describe('the next step of a host', () => {
  test('is to wait as long as nobody has answered, or the node is drained', () => {
    for (const command of [undefined, 'pause'] as const) {
      expect(nextHostStep(view('Ready', { command }))).toMatchObject({ kind: 'ask' });
    }
    expect(nextHostStep(view('Ready'))).toEqual({ kind: 'enter', phase: 'KubeletStopped' });
  });

  test('is to stop the kubelet again after every start, before anything is asked', () => {
    expect(nextHostStep(view('KubeletStopped', { hasStopped: false, command: 'cleared' }))).toEqual({ kind: 'stop' });
  });

  test('is to apply only what the controller has cleared', () => {
    expect(nextHostStep(view('KubeletStopped'))).toMatchObject({ kind: 'ask', until: ['cleared', 'abort'] });
    expect(nextHostStep(view('KubeletStopped', { command: 'cleared' }))).toEqual({
      kind: 'enter',
      phase: 'LabelCleared',
    });
  });

  test('is to end while nothing is changed, and never afterwards, when a person says so', () => {
    const ends = inPlacePhases.filter((phase) => {
      const step = nextHostStep(view(phase, { command: 'abort' }));
      return step.kind === 'fail';
    });
    expect(ends).toEqual(['Ready', 'KubeletStopped', 'LabelCleared']);
  });

  test('after a reboot goes on only in another boot', () => {
    expect(nextHostStep(view('Rebooting'))).toEqual({ kind: 'reboot' });
    expect(nextHostStep(view('Rebooting', { bootId: 'boot-2' }))).toEqual({ kind: 'enter', phase: 'Booted' });
    expect(nextHostStep(view('Rebooting2', { bootId: 'boot-2' }))).toEqual({ kind: 'enter', phase: 'KubeApplying' });
    expect(nextHostStep(view('Rebooting', { now: after(16) }))).toMatchObject({ code: 'RebootNotHappened' });
    // Also when the machine was off for longer than a reboot may take.
    expect(nextHostStep(view('Rebooting', { bootId: 'boot-2', now: after(600) }))).toMatchObject({ kind: 'enter' });
  });

  test('of a machine whose power was cut is to do the work again, or to be there already', () => {
    const other = { bootId: 'boot-2' };
    expect(nextHostStep(view('Applying', other))).toEqual({ kind: 'note-boot' });
    expect(nextHostStep(view('Applying', { ...other, work: 'done' }))).toEqual({ kind: 'enter', phase: 'Booted' });
    expect(nextHostStep(view('Applying', { work: 'done' }))).toEqual({ kind: 'enter', phase: 'Rebooting' });
  });

  test('at the end is to give back what is held, then to hand over', () => {
    for (const phase of ['Failed', 'RolledBack'] as const) {
      expect(nextHostStep(view(phase))).toEqual({ kind: 'give-back' });
      expect(nextHostStep(view(phase, { isHolding: false }))).toEqual({ kind: 'hand-over' });
    }
  });

  test('over the limit of a phase is the end that the table of phases says, with the reason of the last trouble', () => {
    for (const phase of ['Ready', 'KubeletStopped', 'LabelCleared', 'Applying', 'KubeApplying'] as const) {
      const { limitMs = 0, onLimit } = phaseTable[phase];
      const now = new Date(Date.parse(since) + limitMs + 1);
      const attempt = attemptIn(phase, { os: phase === 'KubeApplying' ? 'rhel' : 'rhcos' });
      const work = phase === 'LabelCleared' ? 'unprepared' : 'prepared';
      const command = phase === 'Ready' ? 'pause' : 'none';
      const step = nextHostStep(view(phase, { attempt, now, work, command, trouble: 'no answer' }));
      expect(step, phase).toMatchObject({ kind: 'fail', ...onLimit });
      expect(step.kind === 'fail' && step.message).toContain('no answer');
    }
  });

  test('enters only phases that may follow, whatever is seen', () => {
    const views = inPlacePhases.flatMap((phase) =>
      (['rhcos', 'rhel'] as const).flatMap((os) =>
        (['unprepared', 'prepared', 'done'] as const).flatMap((work) =>
          ['boot-1', 'boot-2'].map((bootId) => {
            return view(phase, { attempt: attemptIn(phase, { os }), bootId, work, command: 'cleared' });
          }),
        ),
      ),
    );
    const wrong = views.filter((seen) => {
      const step = nextHostStep(seen);
      if (isEnd(seen.attempt.phase)) return step.kind !== 'give-back' && step.kind !== 'hand-over';
      return step.kind === 'enter' && !isLater(seen.attempt.phase, step.phase);
    });
    expect(wrong).toEqual([]);
  });
});
