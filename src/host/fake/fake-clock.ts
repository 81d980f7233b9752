// A clock that moves only by sleeps or by `advance`. A sleep takes no real time: when no task can run, time jumps to
// the earliest sleeper and wakes it, so a test of a wait of an hour takes a millisecond.
import type { Clock } from '../clock.ts';

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export interface FakeClock extends Clock {
  advance(ms: number): void;
}

export function fakeClock(start: string): FakeClock {
  const originMs = Date.parse(start);
  let nowMs = 0;
  let isScheduled = false;
  const sleepers = new Set<Sleeper>();
  const wakeNext = (): void => {
    isScheduled = false;
    const next = [...sleepers].sort((a, b) => a.atMs - b.atMs)[0];
    if (next === undefined) return;
    sleepers.delete(next);
    nowMs = Math.max(nowMs, next.atMs);
    next.wake();
    schedule();
  };
  // setImmediate runs every promise that is ready before time moves.
  const schedule = (): void => {
    if (isScheduled || sleepers.size === 0) return;
    isScheduled = true;
    setImmediate(() => setImmediate(wakeNext));
  };
  const add = (ms: number, wake: () => void): Sleeper => {
    const sleeper = { atMs: nowMs + ms, wake };
    sleepers.add(sleeper);
    schedule();
    return sleeper;
  };
  return {
    now: () => new Date(originMs + nowMs),
    monotonicMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error);
        const onAbort = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason as Error);
        };
        const sleeper = add(ms, () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        });
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    after: (ms, call) => {
      const sleeper = add(ms, call);
      return { [Symbol.dispose]: () => sleepers.delete(sleeper) };
    },
  };
}
