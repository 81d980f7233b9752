// Attempts in words: the tables of `ipb status` and `ipb history`, the frame of verbs that watch, the line at the end.

import type { WaitingNode } from '../../cluster/in-place/observe-attempts.ts';
import type { WatchedAttempts, WatchedNode } from '../../cluster/in-place/watch-attempts.ts';
import type { InPlaceRun } from '../../contract/in-place-run.ts';
import { type AttemptView, byStart, endReason, stillFor } from '../../in-place/attempt-view.ts';
import { phaseTable } from '../../in-place/phases.ts';
import { type FrameStep, type FrameView, seconds } from '../../screen/frame.ts';
import { alignColumns } from '../frame/columns.ts';

/** Eight of its digits tell two attempts apart; -o json has all of them. */
export function shortAttempt(id: string): string {
  return id.slice(0, 8);
}

export interface StatusText {
  /** The newest of each node. */
  readonly attempts: readonly AttemptView[];
  readonly waiting: readonly WaitingNode[];
  readonly runs: readonly InPlaceRun[];
  readonly now: Date;
}

export function attemptsText({ attempts, waiting, runs, now }: StatusText): string {
  const rows = [
    ...waiting.map(({ node, waitsFor }) => [node, '-', '-', 'labelled', '-', `waits for ${waitsFor}`]),
    ...attempts
      .filter(({ node }) => !waiting.some((one) => one.node === node))
      .map((attempt) => [
        attempt.node,
        shortAttempt(attempt.attemptId),
        attempt.os,
        attempt.phase,
        attempt.isEnded ? seconds(attempt.tookMs) : forText(attempt, now),
        detailText(attempt, now),
      ]),
  ];
  const lines = runs.map((run) => `${runLine(run)}\n`).join('');
  if (rows.length === 0) return `${lines}no node has had an attempt\n`;
  const table = alignColumns([['NODE', 'ATTEMPT', 'ROUTE', 'PHASE', 'TIME', 'DETAIL'], ...rows]);
  return lines === '' ? table : `${lines}\n${table}`;
}

/** `run worker.0a1b2c3d of pool worker: 1 of 3 done, one at a time`. */
export function runLine({ name, spec, status }: InPlaceRun): string {
  const done = status.nodes.filter(({ phase }) => phase === 'Succeeded').length;
  const pace = spec.maxConcurrent === 1 ? 'one at a time' : `${spec.maxConcurrent} at a time`;
  const state =
    status.state === 'Running' ? '' : ` ${status.state}${status.message === '' ? '' : `: ${status.message}`};`;
  return `run ${name} of pool ${spec.pool}:${state} ${done} of ${spec.nodes.length} done, ${pace}`;
}

/** Since its start. */
function forText({ startedAt }: AttemptView, now: Date): string {
  return startedAt === null ? '-' : seconds(Math.max(0, now.getTime() - Date.parse(startedAt)));
}

function detailText(attempt: AttemptView, now?: Date): string {
  if (attempt.phase === 'Succeeded') return '';
  if (attempt.isEnded) return endReason(attempt);
  const still = now === undefined ? undefined : stillFor(attempt, now);
  const silence = still === undefined ? [] : [`nothing has moved for ${seconds(still)}`];
  const wait = attempt.waitsFor === null || isAtWork(attempt) ? [] : [`waits for ${attempt.waitsFor}`];
  const aborted = attempt.isAborted ? ['a person asked for its end'] : [];
  const said = wait.length > 0 || attempt.said === null ? [] : [attempt.said];
  return [...aborted, ...wait, ...said, ...silence].join('; ');
}

/** While the machine works, what it says tells more than that it is waited for. */
function isAtWork({ phase, said }: AttemptView): boolean {
  return phaseTable[phase].owner === 'host' && said !== null;
}

/** The newest first, each with where its time went. */
export function attemptHistoryText(attempts: readonly AttemptView[]): string {
  if (attempts.length === 0) return 'no node has had an attempt\n';
  const rows = byStart(attempts)
    .toReversed()
    .map((attempt) => [
      attempt.node,
      shortAttempt(attempt.attemptId),
      attempt.os,
      attempt.startedAt?.replace(/\.\d+Z$/, 'Z') ?? '-',
      seconds(attempt.tookMs),
      attempt.phase,
      attempt.phase === 'Succeeded' || !attempt.isEnded ? timesText(attempt) : endReason(attempt),
    ]);
  return alignColumns([['NODE', 'ATTEMPT', 'ROUTE', 'BEGAN', 'TOOK', 'END', 'DETAIL'], ...rows]);
}

/** `Scheduled 1.2 · Preflight 2.0 · …`, without phases that took no time. */
function timesText({ phases }: AttemptView): string {
  return phases
    .flatMap(({ phase, ms }) => (ms === null || ms < 50 ? [] : [`${phase} ${(ms / 1000).toFixed(1)}`]))
    .join(' · ');
}

/** When all have ended well. */
export function endedText({ nodes }: WatchedAttempts): string {
  return nodes
    .flatMap(({ attempt }) => (attempt === null ? [] : [attempt]))
    .map((attempt) => `${attempt.node}: ${attempt.phase} in ${seconds(attempt.tookMs)}\n  ${timesText(attempt)}\n`)
    .join('');
}

export interface AttemptFrame {
  readonly title: string;
  readonly elapsedMs: number;
  readonly likely: string | undefined;
  readonly now: Date;
}

/** A step per node: one table, however many nodes there are. */
export function attemptFrame({ nodes }: WatchedAttempts, frame: AttemptFrame): FrameView {
  const { title, elapsedMs, likely, now } = frame;
  const steps = nodes.map((node) => nodeStep(node, now));
  return { title, elapsedMs, steps, members: [], ...(likely === undefined ? {} : { likely }) };
}

function nodeStep({ node, attempt, waitsFor }: WatchedNode, now: Date): FrameStep {
  if (attempt === null) {
    const isQueued = waitsFor === 'its turn';
    return { name: node, state: isQueued ? 'waiting' : 'running', note: `waits for ${waitsFor}`, details: [] };
  }
  const detail = detailText(attempt);
  const note = detail === '' ? attempt.phase : `${attempt.phase}: ${detail}`;
  const startMs = attempt.startedAt === null ? now.getTime() : Date.parse(attempt.startedAt);
  const ms = attempt.isEnded ? attempt.tookMs : Math.max(0, now.getTime() - startMs);
  const state = attempt.isEnded ? (attempt.phase === 'Succeeded' ? 'done' : 'failed') : 'running';
  // What the machine says within a phase is shown on a terminal; a pipe gets a line per phase and per wait.
  const key = isAtWork(attempt) ? attempt.phase : `${attempt.phase} ${attempt.waitsFor ?? ''}`;
  return { name: node, state, note, key, ms, details: [] };
}
