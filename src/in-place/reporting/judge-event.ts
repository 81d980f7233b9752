// What becomes of a report: a pure function of what the attempt has. The same report twice changes nothing; reports are
// recorded in the order of their numbers and without gaps. Beside it, what the reporter is told.
import { hash, timingSafeEqual } from 'node:crypto';
import {
  type AttemptReport,
  type InPlaceAttempt,
  keptEvents,
  type ProgressAnswer,
  type ProgressEvent,
} from '../../contract/in-place.ts';
import { preflightResultOf } from './preflight-event.ts';

export type EventVerdict =
  /** To be written. */
  | { readonly status: 'new'; readonly report: AttemptReport }
  | { readonly status: 'repeated' }
  /** Reports are missing before it, or another report has its number. */
  | { readonly status: 'gap' };

/** Of several reports in their order: one verdict for all of them, because they are written together or not at all. */
export function judgeEvents(report: AttemptReport, events: readonly ProgressEvent[]): EventVerdict {
  let [verdict, known]: [EventVerdict, AttemptReport] = [{ status: 'repeated' }, report];
  for (const event of events) {
    const one = judgeEvent(known, event);
    if (one.status === 'gap') return one;
    if (one.status === 'new') [verdict, known] = [one, one.report];
  }
  return verdict;
}

function judgeEvent(report: AttemptReport, event: ProgressEvent): EventVerdict {
  const { ackSeq, events } = report;
  if (event.seq > ackSeq + 1) return { status: 'gap' };
  if (event.seq === ackSeq + 1) return { status: 'new', report: withEvent(report, event) };
  const recorded = events.find(({ seq }) => seq === event.seq);
  return { status: recorded === undefined || isSame(recorded, event) ? 'repeated' : 'gap' };
}

/** What two programs that report the same attempt cannot have in common by chance. */
function isSame(one: ProgressEvent, other: ProgressEvent): boolean {
  const fields = ['at', 'bootId', 'phase', 'step', 'status'] as const;
  return fields.every((field) => one[field] === other[field]);
}

function withEvent(report: AttemptReport, event: ProgressEvent): AttemptReport {
  const { phase, at, bootId } = event;
  const result = preflightResultOf(event);
  return {
    ...report,
    ackSeq: event.seq,
    events: [...report.events, event].slice(-keptEvents),
    phases: report.phases.some((one) => one.phase === phase)
      ? report.phases
      : [...report.phases, { phase, at, bootId }],
    preflight:
      result === undefined ? report.preflight : [...report.preflight.filter(({ id }) => id !== result.id), result],
  };
}

export function isReporterToken({ tokenDigest, formerTokenDigest }: AttemptReport, token: string): boolean {
  const given = hash('sha256', token, 'buffer');
  const isEqual = (digest = ''): boolean => {
    const known = Buffer.from(digest, 'hex');
    return known.length === given.length && timingSafeEqual(known, given);
  };
  // Both are compared, whatever the first says.
  return [isEqual(tokenDigest), isEqual(formerTokenDigest)].includes(true);
}

export function progressAnswer({ status: { report, command, phase } }: InPlaceAttempt): ProgressAnswer {
  return { ackSeq: report.ackSeq, command, phase };
}
