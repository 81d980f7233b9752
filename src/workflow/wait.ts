// Waits that always end: every wait has a deadline, may have an abort signal, and knows what is missing.
// A probe only reports what it observed; it never decides how long to wait.
import { type Missing, missingLine } from '../contract/missing.ts';
import type { Clock } from '../host/clock.ts';
import { workflowErrors } from './errors.ts';
import { pause } from './pause.ts';

export type Observation<T> =
  | { readonly status: 'ready'; readonly value: T }
  | { readonly status: 'waiting'; readonly missing: readonly Missing[] };

export interface WaitOptions<T> {
  readonly clock: Clock;
  /** The awaited event, as the subject of "… did not happen within 20 s". */
  readonly what: string;
  readonly deadlineMs: number;
  /** Pause between two probes. A `wake` ends it early. */
  readonly everyMs: number;
  readonly probe: (signal: AbortSignal | undefined) => Promise<Observation<T>>;
  readonly signal?: AbortSignal;
  /** Called when the list of missing things changes, or their details. */
  readonly onMissing?: (missing: readonly Missing[]) => void;
  /** Resolves when something may have changed, such as at a watch event. It is a hint, not a fact. */
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
