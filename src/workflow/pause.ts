// A pause between two observations. A watch event, a ring or a changed file may end it early.
import type { Clock } from '../host/clock.ts';

export interface PauseOptions {
  readonly ms: number;
  /** Aborts the pause with the reason of the signal. */
  readonly signal: AbortSignal | undefined;
  /** Resolves when something may have changed. Its signal aborts when the pause is over. */
  readonly wake: ((signal: AbortSignal) => Promise<void>) | undefined;
}

export async function pause(clock: Clock, { ms, signal, wake }: PauseOptions): Promise<void> {
  if (wake === undefined) return clock.sleep(ms, signal);
  const over = new AbortController();
  const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  try {
    await Promise.race([clock.sleep(ms, either), wake(either)]);
  } finally {
    over.abort(new Error('the pause is over'));
  }
}
