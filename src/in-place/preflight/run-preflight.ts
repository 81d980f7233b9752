// Preflight: all checks of one round run and report. A failure that time may heal is tried again for a while; one that
// stays makes waiting pointless, so a round that has one is the last. Nothing on the host is changed.
import { type AttemptSettings, messageLengthMax, type PreflightResult } from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import { phaseTable } from '../phases.ts';
import type { PreflightVerdict } from './check.ts';
import { preflightChecks } from './checks.ts';
import { collectPreflightFacts } from './collect-facts.ts';
import type { PreflightFacts } from './facts.ts';

const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
/** The controller ends the phase at its limit; the results must have been reported by then. */
const patienceMs = (phaseTable.Preflight.limitMs ?? 600_000) - 30_000;

export interface PreflightOptions {
  /** Called after every round, with whether another one follows. */
  readonly onRound?: (results: readonly PreflightResult[], isLast: boolean) => Promise<void>;
}

/** The results of the last round, one for each check. */
export async function runPreflight(
  host: Host,
  settings: AttemptSettings,
  signal: AbortSignal,
  { onRound }: PreflightOptions = {},
): Promise<readonly PreflightResult[]> {
  const endMs = host.clock.monotonicMs() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    signal.throwIfAborted();
    const round = judgeAll(await collectPreflightFacts(host, settings, signal));
    const isLast = !mayPassLater(round) || host.clock.monotonicMs() + pauseMs > endMs;
    const results = round.map(({ result }) => result);
    await onRound?.(results, isLast);
    if (isLast) return results;
    await host.clock.sleep(pauseMs, signal);
  }
}

/** A sentence about a round that is not the last. */
export function triedAgain(results: readonly PreflightResult[]): string {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  return `tries again: ${failed.map(({ message }) => message).join('; ')}`;
}

interface Judged {
  readonly result: PreflightResult;
  readonly judgement: PreflightVerdict;
}

/** Pure. */
export function judgeAll(facts: PreflightFacts): readonly Judged[] {
  return preflightChecks.map(({ id, judge }) => {
    const judgement = judge(facts);
    const message = `IPB-${id} ${judgement.message}`.slice(0, messageLengthMax);
    return { result: { id, outcome: judgement.outcome, message }, judgement };
  });
}

/** Something failed, and all that failed may pass when it is tried again. */
function mayPassLater(round: readonly Judged[]): boolean {
  const failures = round.flatMap(({ judgement }) => (judgement.outcome === 'failed' ? [judgement] : []));
  return failures.length > 0 && failures.every(({ isPermanent }) => !isPermanent);
}
