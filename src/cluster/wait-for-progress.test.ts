import { describe, expect, test } from 'vitest';
import { type FakeClock, fakeClock } from '../host/fake/fake-clock.ts';
import { type Look, type Patience, waitForProgress } from './wait-for-progress.ts';

const minuteMs = 60_000;

interface Case {
  readonly clock: FakeClock;
  readonly look: () => Promise<Look>;
  readonly patience?: Patience;
  readonly onStill?: () => Promise<void>;
}

function wait({ clock, look, patience = { stallMs: 10 * minuteMs }, onStill }: Case): Promise<void> {
  const { signal } = new AbortController();
  const still = onStill === undefined ? {} : { onStill };
  return waitForProgress({
    clock,
    stage: 'masters',
    patience,
    everyMs: 1_000,
    signal,
    look,
    onMissing: () => {},
    ...still,
  });
}

describe('waiting as long as something moves', () => {
  test('two hours are no failure when something changes every nine minutes', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<Look> => {
      const ms = clock.monotonicMs();
      return { isDone: ms > 120 * minuteMs, fingerprint: String(Math.floor(ms / (9 * minuteMs))), missing: ['more'] };
    };
    await expect(wait({ clock, look })).resolves.toBeUndefined();
  });

  test('ten minutes without any change are one, and it says what is missing', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<Look> => ({ isDone: false, fingerprint: 'same', missing: ['master-2: first boot'] });
    await expect(wait({ clock, look })).rejects.toMatchObject({
      code: 'CLUSTER_STALLED',
      exit: 5,
      message: 'nothing has moved for 600 s at masters: master-2: first boot',
    });
  });

  test('the limit of the person counts also while things move', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<Look> => ({ isDone: false, fingerprint: String(clock.monotonicMs()), missing: [] });
    const patience = { stallMs: 10 * minuteMs, endMs: minuteMs };
    await expect(wait({ clock, look, patience })).rejects.toMatchObject({ code: 'CLUSTER_TIMEOUT' });
    expect(clock.monotonicMs()).toBeLessThan(minuteMs + 2_000);
  });

  test('whoever can tell that it will never come is asked once nothing moves', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const look = async (): Promise<Look> => ({ isDone: false, fingerprint: 'same', missing: [] });
    const onStill = (): Promise<void> => Promise.reject(new Error('master-1 has stopped'));
    await expect(wait({ clock, look, onStill })).rejects.toThrow('master-1 has stopped');
    expect(clock.monotonicMs()).toBeLessThan(minuteMs);
  });
});
