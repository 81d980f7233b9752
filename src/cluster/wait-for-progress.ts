// Waits as long as something moves. A slow host is no failure, so there is no fixed limit: the wait fails when nothing
// has changed for a long time, or at the user's own time limit. Then the error explains the likely reasons.
import { type Missing, missingLine } from '../contract/missing.ts';
import type { Reason } from '../diagnose/diagnose.ts';
import type { Clock } from '../host/clock.ts';
import { clusterErrors } from './errors.ts';

export interface ProgressLook {
  readonly isDone: boolean;
  /** A key that was not there before is movement; one that comes back is not. */
  readonly keys: readonly string[];
  readonly missing: readonly Missing[];
  /** A person holds it: that nothing moves is no stall. */
  readonly isHeld?: boolean;
}

export interface WaitLimits {
  /** How long nothing may change. */
  readonly stallMs: number;
  /** The user's own limit for everything, on the clock's monotonic scale. */
  readonly endMs?: number;
}

/** Why nothing moves, and the option for the commands that it names. */
export interface StallExplanation {
  readonly reasons: readonly Reason[];
  /** See `dirOption`. */
  readonly dirOption: string;
}

/** Explains why nothing moves, also before the wait fails. */
export interface StallWatch {
  readonly explain: (missing: readonly Missing[]) => Promise<StallExplanation>;
  /** The likeliest reason, once nothing has moved for a while; undefined when something moves again. */
  readonly onLikely: (reason: Reason | undefined) => void;
}

export interface ProgressWait {
  readonly clock: Clock;
  /** The command that waits, as a person types it; running it again continues the wait. */
  readonly command: string;
  readonly stage: string;
  readonly patience: WaitLimits;
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly look: () => Promise<ProgressLook>;
  /** Called whenever what is missing changes, its details included. */
  readonly onMissing: (missing: readonly Missing[]) => void;
  /** Called when nothing has moved for a while: throws when the wait can never succeed. */
  readonly onStill?: () => Promise<void>;
  readonly stall: StallWatch;
}

const stillMs = 5_000;
/** Diagnosing takes a second of processor time on every machine, so it begins only after this time. */
const explainAfterMs = 30_000;
const explainAgainMs = 60_000;

export async function waitForProgress(wait: ProgressWait): Promise<void> {
  const { clock, patience, signal } = wait;
  const known = new Set<string>();
  const explainStill = stillExplainer(wait);
  let told = '';
  let movedMs = clock.monotonicMs();
  for (;;) {
    signal.throwIfAborted();
    const { isDone, keys, missing, isHeld = false } = await wait.look();
    if (isDone) return;
    const nowMs = clock.monotonicMs();
    if (isHeld || keys.some((key) => !known.has(key))) movedMs = nowMs;
    for (const key of keys) known.add(key);
    if (missingLine(missing) !== told) wait.onMissing(missing);
    told = missingLine(missing);
    const isTooLate = patience.endMs !== undefined && nowMs > patience.endMs;
    if (isTooLate || nowMs - movedMs > patience.stallMs) throw await failure(wait, missing, isTooLate);
    if (nowMs - movedMs > stillMs) await wait.onStill?.();
    explainStill(nowMs - movedMs, missing);
    await clock.sleep(wait.everyMs, signal);
  }
}

async function failure(wait: ProgressWait, missing: readonly Missing[], isTooLate: boolean): Promise<Error> {
  const { stage, command, patience, stall } = wait;
  const about = { stage, command, missing, ...(await stall.explain(missing)) };
  if (isTooLate) return clusterErrors.TIMEOUT(about);
  return clusterErrors.STALLED({ ...about, seconds: Math.round(patience.stallMs / 1000) });
}

/** Looks for the reason while the wait goes on; the reason is withdrawn when something moves. */
function stillExplainer({
  clock,
  stall,
  signal,
}: ProgressWait): (stillForMs: number, missing: readonly Missing[]) => void {
  let askedMs: number | undefined;
  let isAsking = false;
  let isStill = false;
  return (stillForMs, missing) => {
    if (stillForMs < explainAfterMs) {
      if (isStill) stall.onLikely(undefined);
      isStill = false;
      askedMs = undefined;
      return;
    }
    isStill = true;
    const nowMs = clock.monotonicMs();
    if (isAsking || (askedMs !== undefined && nowMs - askedMs < explainAgainMs)) return;
    isAsking = true;
    askedMs = nowMs;
    stall
      .explain(missing)
      .then(({ reasons }) => {
        if (isStill && !signal.aborted) stall.onLikely(reasons[0]);
      })
      // A failed diagnosis is repeated; if the wait itself fails, it is run again and its failure is reported.
      .catch(() => {})
      .finally(() => {
        isAsking = false;
      });
  };
}
