// Waiting as long as something moves. A slow host is no failure, so there is no fixed limit; what ends the wait is that
// nothing at all has changed for long, or the limit that the person set. Then the likely reasons are looked for.
import type { Reason } from '../diagnose/diagnose.ts';
import type { Clock } from '../host/clock.ts';
import { clusterErrors } from './errors.ts';
import { type Missing, missingLine } from '../contract/missing.ts';

export interface ProgressLook {
  readonly isDone: boolean;
  /** A key that was not there before is movement; one that comes back is not. */
  readonly keys: readonly string[];
  readonly missing: readonly Missing[];
}

export interface WaitLimits {
  /** How long nothing may change. */
  readonly stallMs: number;
  /** On the clock's monotonic scale; the person's own limit for all of it. */
  readonly endMs?: number;
}

/** Why nothing moves, and how to say it. */
export interface StallExplanation {
  readonly reasons: readonly Reason[];
  /** See `dirOption`. */
  readonly dirOption: string;
}

/** Whoever waits for machines may be told why nothing moves, before it is too long. */
export interface StallWatch {
  readonly explain: (missing: readonly Missing[]) => Promise<StallExplanation>;
  /** The likeliest reason, once nothing has moved for a while; undefined when something moves again. */
  readonly onLikely: (reason: Reason | undefined) => void;
}

export interface ProgressWait {
  readonly clock: Clock;
  /** The command that waits, as a person types it: running it again continues. */
  readonly command: string;
  readonly stage: string;
  readonly patience: WaitLimits;
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly look: () => Promise<ProgressLook>;
  /** Called whenever what is missing changes, its details included. */
  readonly onMissing: (missing: readonly Missing[]) => void;
  /** Asked when nothing has moved for a while: throws when it never will. */
  readonly onStill?: () => Promise<void>;
  readonly stall: StallWatch;
}

const stillMs = 5_000;
/** Looking into every machine costs them a second of work, so not before somebody would begin to wonder. */
const wonderMs = 30_000;
const wonderAgainMs = 60_000;

export async function waitForProgress(wait: ProgressWait): Promise<void> {
  const { clock, patience, signal } = wait;
  const known = new Set<string>();
  const wonder = wondering(wait);
  let told = '';
  let movedMs = clock.monotonicMs();
  for (;;) {
    signal.throwIfAborted();
    const { isDone, keys, missing } = await wait.look();
    if (isDone) return;
    const nowMs = clock.monotonicMs();
    if (keys.some((key) => !known.has(key))) movedMs = nowMs;
    for (const key of keys) known.add(key);
    if (missingLine(missing) !== told) wait.onMissing(missing);
    told = missingLine(missing);
    const isTooLate = patience.endMs !== undefined && nowMs > patience.endMs;
    if (isTooLate || nowMs - movedMs > patience.stallMs) throw await failure(wait, missing, isTooLate);
    if (nowMs - movedMs > stillMs) await wait.onStill?.();
    wonder(nowMs - movedMs, missing);
    await clock.sleep(wait.everyMs, signal);
  }
}

async function failure(wait: ProgressWait, missing: readonly Missing[], isTooLate: boolean): Promise<Error> {
  const { stage, command, patience, stall } = wait;
  const about = { stage, command, missing, ...(await stall.explain(missing)) };
  if (isTooLate) return clusterErrors.TIMEOUT(about);
  return clusterErrors.STALLED({ ...about, seconds: Math.round(patience.stallMs / 1000) });
}

/** Looks for the reason beside the wait, which goes on meanwhile; what it finds is forgotten when something moves. */
function wondering({ clock, stall, signal }: ProgressWait): (stillForMs: number, missing: readonly Missing[]) => void {
  let askedMs: number | undefined;
  let isAsking = false;
  let isStill = false;
  return (stillForMs, missing) => {
    if (stillForMs < wonderMs) {
      if (isStill) stall.onLikely(undefined);
      isStill = false;
      askedMs = undefined;
      return;
    }
    isStill = true;
    const nowMs = clock.monotonicMs();
    if (isAsking || (askedMs !== undefined && nowMs - askedMs < wonderAgainMs)) return;
    isAsking = true;
    askedMs = nowMs;
    stall
      .explain(missing)
      .then(({ reasons }) => {
        if (isStill && !signal.aborted) stall.onLikely(reasons[0]);
      })
      // A look that failed is repeated; when the wait ends in vain, its failure is told.
      .catch(() => {})
      .finally(() => {
        isAsking = false;
      });
  };
}
