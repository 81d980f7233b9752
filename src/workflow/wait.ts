// Waiting, always bounded: every wait has a deadline, an abort signal and a value that says what is missing.
// A probe reports what it saw; it never decides how long to wait.
import { type Missing, missingLine } from '../contract/missing.ts';
import type { Clock } from '../host/clock.ts';
import { workflowErrors } from './errors.ts';
import { pause } from './pause.ts';

export type Observation<T> =
  | { readonly status: 'ready'; readonly value: T }
  | { readonly status: 'waiting'; readonly missing: readonly Missing[] };

export interface WaitOptions<T> {
  readonly clock: Clock;
  /** What is waited for, as the subject of "… did not happen within 20 s". */
  readonly what: string;
  readonly deadlineMs: number;
  /** Pause between two looks. A `wake` cuts it short. */
  readonly everyMs: number;
  readonly probe: (signal: AbortSignal | undefined) => Promise<Observation<T>>;
  readonly signal?: AbortSignal;
  /** Called whenever what is missing changes, its details included. */
  readonly onMissing?: (missing: readonly Missing[]) => void;
  /** Resolves early when something may have changed (a watch event); a hint, not a fact. */
  readonly wake?: (signal: AbortSignal) => Promise<void>;
}

export async function waitUntil<T>(options: WaitOptions<T>): Promise<T> {
  const { clock, signal } = options;
  const endMs = clock.monotonicMs() + options.deadlineMs;
  let missing: readonly Missing[] = [];
  for (;;) {
    signal?.throwIfAborted();
    const seen = await options.probe(signal);
    if (seen.status === 'ready') return seen.value;
    if (missingLine(seen.missing) !== missingLine(missing)) options.onMissing?.(seen.missing);
    missing = seen.missing;
    const leftMs = endMs - clock.monotonicMs();
    if (leftMs <= 0) {
      throw workflowErrors.DEADLINE({ what: options.what, seconds: Math.round(options.deadlineMs / 1000), missing });
    }
    await pause(clock, { ms: Math.min(options.everyMs, leftMs), signal, wake: options.wake });
  }
}
