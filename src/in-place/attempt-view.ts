// What a person is shown of an attempt: its phase, since when, what it waits for, why it ended, and how long each phase
// took. `ipb status`, `ipb watch`, `ipb history`, `status` and `diagnose` read the same value.
import type { InPlaceAttempt, InPlacePhase, InPlaceSystem, PreflightResult } from '../contract/in-place.ts';
import { isEnd, isLater } from './phases.ts';

export interface PhaseTime {
  readonly phase: InPlacePhase;
  readonly at: string;
  /** Until the next phase began; null for the one that it is in. */
  readonly ms: number | null;
}

export interface AttemptView {
  readonly name: string;
  readonly node: string;
  readonly attemptId: string;
  readonly os: InPlaceSystem;
  readonly isAdoption: boolean;
  /** The InPlaceRun that it belongs to. */
  readonly run: string | null;
  readonly phase: InPlacePhase;
  readonly isEnded: boolean;
  readonly isAborted: boolean;
  readonly startedAt: string | null;
  /** When it was in a new phase, or reported something, for the last time. */
  readonly movedAt: string | null;
  /** From its start to its end, or to its last movement. */
  readonly tookMs: number;
  readonly phases: readonly PhaseTime[];
  /** The last report that the cluster has. */
  readonly ackSeq: number;
  /** What the machine said last. */
  readonly said: string | null;
  /** Completes "waits for …". */
  readonly waitsFor: string | null;
  readonly failure: { readonly phase: InPlacePhase; readonly code: string; readonly message: string } | null;
  /** The checks that failed or warned. */
  readonly preflight: readonly PreflightResult[];
}

export function attemptView({ name, spec, status }: InPlaceAttempt): AttemptView {
  const { report } = status;
  const last = report.events.at(-1);
  const phase = newerPhase(status.phase, last?.phase);
  const phases = phaseTimes({ name, spec, status }, phase);
  const startedAt = phases[0]?.at ?? null;
  const isEnded = isEnd(phase);
  const movedAt = isEnded ? phases.at(-1)?.at : latest([phases.at(-1)?.at, last?.at]);
  return {
    name,
    node: spec.node,
    attemptId: spec.attemptId,
    os: spec.os,
    isAdoption: spec.isAdoption,
    run: spec.run ?? null,
    phase,
    isEnded,
    isAborted: status.isAborted,
    startedAt,
    movedAt: movedAt ?? null,
    tookMs: startedAt === null || movedAt === undefined ? 0 : Date.parse(movedAt) - Date.parse(startedAt),
    phases,
    ackSeq: report.ackSeq,
    said: last?.message || null,
    waitsFor: isEnded ? null : status.waitsFor || null,
    failure: status.failure ?? null,
    preflight: report.preflight.filter(({ outcome }) => outcome === 'failed' || outcome === 'warning'),
  };
}

/** The machine may be ahead of what the controller has written about it. Only the controller says that it has ended. */
function newerPhase(written: InPlacePhase, reported: InPlacePhase | undefined): InPlacePhase {
  if (reported === undefined || isEnd(reported) || !isLater(written, reported)) return written;
  return reported;
}

/** From both records; each phase once, at the time that the controller gave it. */
function phaseTimes({ status }: InPlaceAttempt, current: InPlacePhase): readonly PhaseTime[] {
  const times = new Map<InPlacePhase, string>();
  for (const { phase, at } of status.report.phases) if (!isEnd(phase)) times.set(phase, at);
  // Backwards: of a phase that is written twice, the first time counts.
  for (const { phase, at } of status.history.toReversed()) times.set(phase, at);
  const ordered = [...times]
    .map(([phase, at]) => ({ phase, at }))
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at) || (isLater(one.phase, other.phase) ? -1 : 1));
  return ordered.map(({ phase, at }, index) => {
    const next = ordered[index + 1];
    return { phase, at, ms: next === undefined || phase === current ? null : Date.parse(next.at) - Date.parse(at) };
  });
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times
    .filter((time) => time !== undefined)
    .toSorted((one, other) => Date.parse(one) - Date.parse(other))
    .at(-1);
}

/** All checks that failed, or where and why it ended. */
export function endReason({ failure, preflight, said, isAborted }: AttemptView): string {
  const failed = preflight.filter(({ outcome }) => outcome === 'failed');
  if (failure === null && failed.length > 0) return failed.map(({ message }) => message).join('; ');
  if (failure === null) return isAborted ? 'it was aborted' : (said ?? 'nobody said why');
  const checks = failed.filter(({ message }) => !failure.message.includes(message)).map(({ message }) => message);
  return [`${failure.code} in phase ${failure.phase}`, failure.message, ...checks]
    .filter((part) => part !== '')
    .join('; ');
}

/** An attempt in which nothing moved for so long is worth a look; its own limits are minutes. */
const stillMs = 60_000;

/** For how long nothing has moved; undefined while something does, and after its end. */
export function stillFor({ isEnded, movedAt }: AttemptView, now: Date): number | undefined {
  if (isEnded || movedAt === null) return undefined;
  const ms = now.getTime() - Date.parse(movedAt);
  return ms < stillMs ? undefined : ms;
}

/** The newest attempt of each node, by name of the node. */
export function newestOfEachNode(attempts: readonly AttemptView[]): readonly AttemptView[] {
  const newest = new Map<string, AttemptView>();
  for (const attempt of byStart(attempts)) newest.set(attempt.node, attempt);
  return [...newest.values()].toSorted((one, other) => one.node.localeCompare(other.node, 'en', { numeric: true }));
}

/** The oldest first. One that has not begun yet is the newest. */
export function byStart(attempts: readonly AttemptView[]): readonly AttemptView[] {
  const startMs = ({ startedAt }: AttemptView): number => (startedAt === null ? Infinity : Date.parse(startedAt));
  return attempts.toSorted((one, other) => startMs(one) - startMs(other) || (one.name < other.name ? -1 : 1));
}
