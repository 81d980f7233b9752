// The loop that maintains the members of etcd: it observes, makes the one change that is safe, and observes again. It
// keeps no state that it could not observe again, so it can be killed at any point and started again, here or on
// another machine. The caller's Lease decides which machine runs it.
import { missingLine } from '../contract/missing.ts';
import type { EtcdClients } from '../etcd/client.ts';
import { type ClusterId, hasStarted, type Member } from '../etcd/member.ts';
import type { Clock } from '../host/clock.ts';
import { pause } from '../workflow/pause.ts';
import type { MembershipEvent } from './membership-events.ts';
import type { MembershipStage, MembershipWait, Move } from './move.ts';
import { nextMove } from './next-move.ts';
import { observe } from './observe-members.ts';
import { isMemberOf, type MembershipFacts, memberName, type ObservedCluster } from './observed-cluster.ts';
import { pauseAfterRefusal, pauseWhileWaiting, refusalKey } from './pauses.ts';
import { type MoveOutcome, performMove } from './perform-move.ts';
import { sightings } from './sightings.ts';

export interface MembershipLoop {
  readonly clients: EtcdClients;
  readonly clock: Clock;
  /** Machines, readiness and handoff as they are now, read before every look. An error that it throws ends the loop. */
  readonly facts: () => Promise<MembershipFacts> | MembershipFacts;
  /** True while this process may change the membership; checked before every look and every call. */
  readonly mayAct: () => boolean;
  readonly emit: (event: MembershipEvent) => void;
  readonly signal: AbortSignal;
  readonly clusterId?: ClusterId;
  /** Resolves when something may have changed (a watch event); a hint that cuts a pause short. */
  readonly wake?: (signal: AbortSignal) => Promise<void>;
  /** Return as soon as this stage is reached, by any machine; without it the loop runs until it is aborted. */
  readonly until?: MembershipStage;
  /** Called with every look: for publishing the endpoints and for drawing the members. */
  readonly onLook?: (seen: ObservedCluster) => void;
}

export async function keepMembership(loop: MembershipLoop): Promise<void> {
  const memory = sightings();
  const report = changeReporter(loop.emit);
  const refusals = refusalClock(loop.clock);
  for (;;) {
    loop.signal.throwIfAborted();
    const { clients, clock, clusterId, signal } = loop;
    const may = report.mayAct(loop.mayAct());
    // A process that waits for a stage goes on observing: another machine may reach it.
    if (!may && loop.until === undefined) {
      await pause(loop.clock, { ms: standByMs, signal: loop.signal, wake: loop.wake });
      continue;
    }
    const facts = await loop.facts();
    const lookAtMs = clock.monotonicMs();
    const seen = await observe({ clients, clock, facts, sightings: memory, clusterId, signal });
    loop.onLook?.(seen);
    if (seen.membership.status === 'read') report.members(seen.membership.members, seen);
    const next = nextMove(seen);
    if (next.kind === 'waiting') {
      report.waiting(next);
      const isProven = next.stage !== 'steady' || (await report.bootstrapGone(() => confirmBootstrapGone(loop, seen)));
      if (isProven && next.stage === loop.until) return;
      await pause(loop.clock, {
        ms: !may ? observerMs : isProven ? pauseWhileWaiting(next, seen) : unprovenPauseMs,
        signal: loop.signal,
        wake: loop.wake,
      });
      continue;
    }
    if (!may) {
      await pause(loop.clock, { ms: observerMs, signal: loop.signal, wake: loop.wake });
      continue;
    }
    const startMs = clock.monotonicMs();
    const lookMs = startMs - lookAtMs;
    const performed = await performMove(next, { clients, mayAct: loop.mayAct, lookMs, signal });
    if (performed.status === 'done' && performed.members !== undefined) report.members(performed.members, seen);
    const pauseMs = reportMove(next, performed, { loop, seen, refusals, tookMs: clock.monotonicMs() - startMs });
    if (pauseMs > 0) await pause(loop.clock, { ms: pauseMs, signal: loop.signal, wake: loop.wake });
  }
}

/** Reports only what has changed. */
function changeReporter(emit: (event: MembershipEvent) => void) {
  let members = '';
  let waiting = '';
  let isGoneReported = false;
  let isStandingBy = false;
  return {
    mayAct: (may: boolean): boolean => {
      if (!may && !isStandingBy) emit({ kind: 'standing-by' });
      isStandingBy = !may;
      return may;
    },
    /** Calls `prove` until it has succeeded once. */
    bootstrapGone: async (prove: () => Promise<readonly string[] | undefined>): Promise<boolean> => {
      if (isGoneReported) return true;
      const confirmedBy = await prove();
      if (confirmedBy === undefined) return false;
      emit({ kind: 'bootstrap-gone', confirmedBy });
      isGoneReported = true;
      return true;
    },
    members: (list: readonly Member[], seen: ObservedCluster): void => {
      const names = (chosen: readonly Member[]): readonly string[] =>
        chosen.map((member) => memberName(member, seen)).toSorted();
      const learners = list.filter((member) => member.isLearner);
      const event: MembershipEvent = {
        kind: 'members',
        voters: names(list.filter((member) => !member.isLearner)),
        learners: names(learners.filter(hasStarted)),
        starting: names(learners.filter((member) => !hasStarted(member))),
      };
      if (members !== JSON.stringify(event)) emit(event);
      members = JSON.stringify(event);
    },
    waiting: ({ stage, missing }: MembershipWait): void => {
      const text = `${stage} ${missingLine(missing)}`;
      if (waiting !== text) emit({ kind: 'waiting', stage, missing });
      waiting = text;
    },
  };
}

/** At least two masters (or the only one) whose own linearizable list does not contain the bootstrap member. */
async function confirmBootstrapGone(
  { clients, signal }: MembershipLoop,
  seen: ObservedCluster,
): Promise<readonly string[] | undefined> {
  const lists = await Promise.all(
    seen.masters.map(async ({ name, clientUrl }) => {
      const answer = await clients.at(clientUrl).memberList({ isLinearizable: true, signal });
      return { name, members: answer.status === 'ok' ? answer.value.members : undefined };
    }),
  );
  const confirmedBy = lists
    .filter(({ members }) => members?.every((member) => !isMemberOf(member, seen.bootstrap)))
    .map(({ name }) => name);
  return confirmedBy.length >= Math.min(2, seen.masters.length) ? confirmedBy : undefined;
}

/** For how long the same change has been refused, and whether that should be reported (again). */
function refusalClock(clock: Clock) {
  let last = { key: '', sinceMs: 0, wasOverdue: false };
  return {
    forget: (): void => {
      last = { key: '', sinceMs: 0, wasOverdue: false };
    },
    date: (key: string, overdueMs: number) => {
      const nowMs = clock.monotonicMs();
      const isNew = key !== last.key;
      if (isNew) last = { key, sinceMs: nowMs, wasOverdue: false };
      const forMs = nowMs - last.sinceMs;
      const isOverdue = forMs >= overdueMs;
      const isNews = isNew || isOverdue !== last.wasOverdue;
      last = { ...last, wasOverdue: isOverdue };
      return { forMs, isOverdue, isNews };
    },
  };
}

interface MoveReport {
  readonly loop: MembershipLoop;
  readonly seen: ObservedCluster;
  readonly refusals: ReturnType<typeof refusalClock>;
  readonly tookMs: number;
}

/** Reports how a move ended; returns the pause before the next look. */
function reportMove(move: Move, performed: MoveOutcome, { loop, seen, refusals, tookMs }: MoveReport): number {
  if (performed.status === 'done') {
    refusals.forget();
    loop.emit({ kind: 'moved', move, tookMs });
    return 0;
  }
  if (performed.status === 'withheld') {
    loop.emit({ kind: 'withheld', move, why: performed.why });
    return withheldPauseMs;
  }
  const { outcome, said } = performed.failure;
  const { pauseMs, overdueMs } = pauseAfterRefusal(outcome, databaseBytes(seen, move.via));
  const { forMs, isOverdue, isNews } = refusals.date(refusalKey(move, outcome), overdueMs);
  if (isNews) loop.emit({ kind: 'refused', move, outcome, said, forMs, isOverdue });
  return pauseMs;
}

const withheldPauseMs = 100;
const unprovenPauseMs = 250;
const standByMs = 1000;
const observerMs = 200;

function databaseBytes({ membership }: ObservedCluster, via: string): number {
  if (membership.status === 'unreadable') return 0;
  const asked = membership.members.find((member) => member.clientUrls.includes(via));
  return asked?.probe.status === 'answers' ? asked.probe.state.dbSizeBytes : 0;
}
