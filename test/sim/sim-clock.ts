// Virtual time for simulations: it jumps to the next sleeper as soon as nothing else can run. Like the fake host's clock,
// but told before every jump, so that a world can bring itself up to date.
import type { Clock } from '../../src/host/clock.ts';

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export interface SimClock extends Clock {
  /** Called with the new time before anybody is woken at it. */
  onJump: (nowMs: number) => void;
}

export function simClock(): SimClock {
  let nowMs = 0;
  let isScheduled = false;
  const sleepers = new Set<Sleeper>();
  const jump = (): void => {
    isScheduled = false;
    let next: Sleeper | undefined;
    for (const sleeper of sleepers) if (next === undefined || sleeper.atMs < next.atMs) next = sleeper;
    if (next === undefined) return;
    sleepers.delete(next);
    if (next.atMs > nowMs) {
      nowMs = next.atMs;
      clock.onJump(nowMs);
    }
    next.wake();
    schedule();
  };
  // An immediate comes after every promise that can be settled now.
  const schedule = (): void => {
    if (isScheduled || sleepers.size === 0) return;
    isScheduled = true;
    setImmediate(jump);
  };
  const add = (ms: number, wake: () => void): Sleeper => {
    const sleeper = { atMs: nowMs + ms, wake };
    sleepers.add(sleeper);
    schedule();
    return sleeper;
  };
  const clock: SimClock = {
    onJump: () => {},
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
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
  return clock;
}

/** Chance from a number; fast, and the same everywhere (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
