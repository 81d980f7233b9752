import { describe, expect, test } from 'vitest';
import { waitingFor } from '../contract/missing.ts';
import type { Reason } from '../diagnose/diagnose.ts';
import { type FakeClock, fakeClock } from '../host/fake/fake-clock.ts';
import { type ProgressLook, type ProgressWait, type WaitLimits, waitForProgress } from './wait-for-progress.ts';

const minuteMs = 60_000;

const reason: Reason = {
  check: 'name-unresolved',
  certainty: 'measured',
  machine: 'master-2',
  sentence: 'api-int.demo.test does not resolve on master-2',
  seen: 'looked up there: the name does not resolve',
  next: { verb: 'machine exec', rest: 'master-2 -- getent hosts api-int.demo.test' },
};

interface Case extends Partial<Pick<ProgressWait, 'onStill'>> {
  readonly clock: FakeClock;
  readonly look: () => Promise<ProgressLook>;
  readonly patience?: WaitLimits;
  readonly onLikely?: (reason: Reason | undefined) => void;
}

function wait({
  clock,
  look,
  patience = { stallMs: 6 * minuteMs },
  onLikely = () => {},
  ...more
}: Case): Promise<void> {
  const { signal } = new AbortController();
  return waitForProgress({
    clock,
    command: 'create cluster',
    stage: 'masters',
    patience,
    everyMs: 1_000,
    signal,
    look,
    onMissing: () => {},
    stall: { explain: async () => ({ reasons: [reason], dirOption: ' --dir lab' }), onLikely },
    ...more,
  });
}

describe('waiting as long as something moves', () => {
  test('what a person holds is no stall, however long they look', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const likely: unknown[] = [];
    const look = async (): Promise<ProgressLook> => ({
      isDone: clock.monotonicMs() > 24 * 60 * minuteMs,
      keys: ['etcd paused'],
      missing: [waitingFor('bootstrap', 'paused before 7 etcd')],
      isHeld: true,
    });
    await wait({ clock, look, onLikely: (reason) => likely.push(reason) });
    expect(likely).toEqual([]);
  });

  test('two hours are no failure when something changes every five minutes', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<ProgressLook> => {
      const ms = clock.monotonicMs();
      return {
        isDone: ms > 120 * minuteMs,
        keys: [String(Math.floor(ms / (5 * minuteMs)))],
        missing: [waitingFor('more')],
      };
    };
    await expect(wait({ clock, look })).resolves.toBeUndefined();
  });

  test('no change for long ends it: what was seen, the likely reason, the next command', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<ProgressLook> => ({
      isDone: false,
      keys: ['same'],
      missing: [waitingFor('master-2', '', { detail: 'first boot' })],
    });
    await expect(wait({ clock, look })).rejects.toMatchObject({
      code: 'CLUSTER_STALLED',
      exit: 5,
      message: 'masters: nothing has moved for 360 s',
      hint: [
        'seen   master-2: first boot',
        'likely 1. api-int.demo.test does not resolve on master-2',
        '          looked up there: the name does not resolve',
        'next   firstlight machine exec --dir lab master-2 -- getent hosts api-int.demo.test',
        '       then, to continue where it stopped: firstlight create cluster --dir lab',
      ].join('\n'),
    });
  });

  test('what comes and goes again and again is no movement', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<ProgressLook> => {
      const isUp = Math.floor(clock.monotonicMs() / 10_000) % 2 === 0;
      return { isDone: false, keys: ['always', isUp ? 'etcd starts' : 'etcd fails'], missing: [] };
    };
    await expect(wait({ clock, look })).rejects.toMatchObject({ code: 'CLUSTER_STALLED' });
    expect(clock.monotonicMs()).toBeLessThan(7 * minuteMs);
  });

  test('the limit of the person counts also while things move', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<ProgressLook> => ({
      isDone: false,
      keys: [String(clock.monotonicMs())],
      missing: [],
    });
    const patience = { stallMs: 6 * minuteMs, endMs: minuteMs };
    await expect(wait({ clock, look, patience })).rejects.toMatchObject({ code: 'CLUSTER_TIMEOUT', exit: 5 });
    expect(clock.monotonicMs()).toBeLessThan(minuteMs + 2_000);
  });

  test('whoever can tell that it will never come is asked once nothing moves', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<ProgressLook> => ({ isDone: false, keys: ['same'], missing: [] });
    const onStill = (): Promise<void> => Promise.reject(new Error('master-1 has stopped'));
    await expect(wait({ clock, look, onStill })).rejects.toThrow('master-1 has stopped');
    expect(clock.monotonicMs()).toBeLessThan(minuteMs);
  });
});

test('the likely reason is told long before the end, and taken back when something moves', async () => {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const told: (readonly [seconds: number, sentence: string | undefined])[] = [];
  const look = async (): Promise<ProgressLook> => {
    const ms = clock.monotonicMs();
    return { isDone: ms > 2 * minuteMs, keys: [ms < 40_000 ? 'stands still' : String(ms)], missing: [] };
  };
  const onLikely = (likely: Reason | undefined): void =>
    void told.push([Math.round(clock.monotonicMs() / 1000), likely?.sentence]);
  await wait({ clock, look, onLikely });
  expect(told.map(([, sentence]) => sentence)).toEqual([reason.sentence, undefined]);
  expect(told[0]?.[0]).toBeLessThan(35);
});
