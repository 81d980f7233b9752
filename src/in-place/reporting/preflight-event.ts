// The result of a preflight check as a report, and back: pod and progress API agree here.
import { type PreflightResult, type ProgressEvent, preflightIds } from '../../contract/in-place.ts';
import type { AttemptReportEvent } from './reporter.ts';

/** A check that does not apply is reported as fine, with this code. */
const skipped = 'skipped';

export function preflightEvent({ id, outcome, message }: PreflightResult): AttemptReportEvent {
  const shared = { phase: 'Preflight', step: id, message } as const;
  return outcome === 'skipped' ? { ...shared, status: 'ok', code: skipped } : { ...shared, status: outcome };
}

/** Undefined where the event is no result of a check. */
export function preflightResultOf({ phase, step, status, code, message }: ProgressEvent): PreflightResult | undefined {
  const id = preflightIds.find((one) => one === step);
  if (phase !== 'Preflight' || id === undefined || status === 'started' || status === 'progress') return undefined;
  return { id, outcome: status === 'ok' && code === skipped ? skipped : status, message };
}
