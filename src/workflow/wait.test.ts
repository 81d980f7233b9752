import { describe, expect, test } from 'vitest';
import { waitingFor } from '../contract/missing.ts';
import { fakeClock } from '../host/fake/fake-clock.ts';
import { seededRandom } from '../host/fake/fake-random.ts';
import { pauseBefore, retry } from './retry.ts';
import { type Observation, waitUntil } from './wait.ts';

const start = '2026-01-01T00:00:00Z';

describe('a wait', () => {
  test('returns the value as soon as it is seen', async () => {
    const clock = fakeClock(start);
    let looks = 0;
    const probe = async (): Promise<Observation<string>> => {
      looks += 1;
      return looks < 4
        ? { status: 'waiting', missing: [waitingFor(`${4 - looks} more`)] }
        : { status: 'ready', value: 'there' };
    };
    await expect(waitUntil({ clock, what: 'it', deadlineMs: 60_000, everyMs: 1_000, probe })).resolves.toBe('there');
    expect(clock.monotonicMs()).toBe(3_000);
  });

  test('at its deadline says what was still missing', async () => {
    const clock = fakeClock(start);
    const probe = async (): Promise<Observation<never>> => ({
      status: 'waiting',
      missing: [waitingFor('master-2', 'has not asked')],
    });
    await expect(
      waitUntil({ clock, what: 'the handoff', deadlineMs: 20_000, everyMs: 700, probe }),
    ).rejects.toMatchObject({
      code: 'WORKFLOW_DEADLINE',
      message: 'the handoff did not happen within 20 s; still missing: master-2 has not asked',
    });
    expect(clock.monotonicMs()).toBe(20_000);
  });

  test('ends at once when aborted', async () => {
    const clock = fakeClock(start);
    const controller = new AbortController();
    const probe = async (): Promise<Observation<never>> => {
      controller.abort(new Error('stop'));
      return { status: 'waiting', missing: [] };
    };
    const options = { clock, what: 'it', deadlineMs: 60_000, everyMs: 1_000, probe, signal: controller.signal };
    await expect(waitUntil(options)).rejects.toThrow('stop');
    expect(clock.monotonicMs()).toBe(0);
  });

  test('a wake-up cuts the pause short', async () => {
    const clock = fakeClock(start);
    let looks = 0;
    const probe = async (): Promise<Observation<number>> => {
      looks += 1;
      return looks < 2 ? { status: 'waiting', missing: [] } : { status: 'ready', value: looks };
    };
    const wake = (): Promise<void> => clock.sleep(5);
    await waitUntil({ clock, what: 'it', deadlineMs: 60_000, everyMs: 10_000, probe, wake });
    expect(clock.monotonicMs()).toBe(5);
  });
});

describe('a retry', () => {
  const policy = { attempts: 4, firstPauseMs: 100, maxPauseMs: 250 };
  test('tries again only what is worth it, at most as often as allowed', async () => {
    const host = { clock: fakeClock(start), random: seededRandom('x') };
    let calls = 0;
    const failing = async (): Promise<never> => {
      calls += 1;
      throw new Error('busy');
    };
    await expect(retry({ host, policy, isWorthRetrying: () => true }, failing)).rejects.toThrow('busy');
    expect(calls).toBe(4);
    await expect(retry({ host, policy, isWorthRetrying: () => false }, failing)).rejects.toThrow('busy');
    expect(calls).toBe(5);
  });

  test('pauses grow to the ceiling and always keep at least half of it', () => {
    const random = seededRandom('x');
    for (const [attempt, ceiling] of [
      [1, 100],
      [2, 200],
      [3, 250],
      [9, 250],
    ] as const) {
      for (let n = 0; n < 50; n += 1) {
        const pause = pauseBefore(policy, attempt, random);
        expect(pause).toBeGreaterThanOrEqual(ceiling / 2);
        expect(pause).toBeLessThan(ceiling);
      }
    }
  });
});
