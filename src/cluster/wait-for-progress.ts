// Waiting as long as something moves. A slow host is no failure, so there is no fixed limit; what ends the wait is that
// nothing at all has changed for long, or the limit that the person set.
import type { Clock } from '../host/clock.ts';
import { clusterErrors } from './errors.ts';

export interface Look {
  readonly isDone: boolean;
  /** Everything that counts as movement, as one text. */
  readonly fingerprint: string;
  readonly missing: readonly string[];
}

export interface Patience {
  /** How long nothing may change. */
  readonly stallMs: number;
  /** On the clock's monotonic scale; the person's own limit for all of it. */
  readonly endMs?: number;
}

export interface ProgressWait {
  readonly clock: Clock;
  readonly stage: string;
  readonly patience: Patience;
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly look: () => Promise<Look>;
  /** Told whenever what is missing changes. */
  readonly onMissing: (missing: readonly string[]) => void;
  /** Asked when nothing has moved for a while: throws when it never will. */
  readonly onStill?: () => Promise<void>;
}

const stillMs = 5_000;

export async function waitForProgress(wait: ProgressWait): Promise<void> {
  const { clock, stage, patience, signal } = wait;
  let before: string | undefined;
  let told = '';
  let movedMs = clock.monotonicMs();
  for (;;) {
    signal.throwIfAborted();
    const { isDone, fingerprint, missing } = await wait.look();
    if (isDone) return;
    const nowMs = clock.monotonicMs();
    if (fingerprint !== before) movedMs = nowMs;
    before = fingerprint;
    if (missing.join('\n') !== told) wait.onMissing(missing);
    told = missing.join('\n');
    if (nowMs - movedMs > patience.stallMs) {
      throw clusterErrors.STALLED({ seconds: Math.round(patience.stallMs / 1000), stage, missing });
    }
    if (patience.endMs !== undefined && nowMs > patience.endMs) throw clusterErrors.TIMEOUT({ stage, missing });
    if (nowMs - movedMs > stillMs) await wait.onStill?.();
    await clock.sleep(wait.everyMs, signal);
  }
}
