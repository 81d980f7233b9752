// What `create cluster` shows: one view, made from the events of its stages and the last observation of the machines.
// Terminal and pipe both use it.
import { goingOnLines, pausedText } from '../contract/bootstrap-pause.ts';
import type { DutyName } from '../contract/duty-names.ts';
import { missingText } from '../contract/missing.ts';
import { type StageProgress, stageProgressKey, stageProgressText } from '../contract/stage-progress.ts';
import type { FrameMember, FrameStep, FrameView } from '../screen/frame.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { isHeld, isPast, isWatchedPhase, phaseOf } from './bootstrap-phase.ts';
import { bootstrapKey, bootstrapWords } from './cluster-missing.ts';
import { machineKey, machineWords } from './machine-words.ts';
import type { ClusterObservation } from './observe-cluster.ts';

interface StageState {
  readonly state: FrameStep['state'];
  readonly note: string;
  /** While it runs: what it does or waits for. */
  readonly progress?: StageProgress;
  readonly startMs: number;
  readonly ms?: number;
}

export interface CreateState {
  readonly startMs: number;
  readonly title: string;
  readonly stages: Readonly<Record<string, StageState>>;
  readonly observed: ClusterObservation | undefined;
  /** The likeliest reason why nothing moves; undefined while something moves. */
  readonly likely?: string | undefined;
  /** See `dirOption`; for the commands that are named. */
  readonly dirOption?: string;
}

export function beginCreateState(names: readonly string[], title: string, startMs: number): CreateState {
  const untouched = { state: 'waiting', note: '', startMs } as const;
  return { startMs, title, stages: Object.fromEntries(names.map((name) => [name, untouched])), observed: undefined };
}

/** The state after one more event. */
export function nextCreateState(shown: CreateState, event: WorkflowEvent, nowMs: number): CreateState {
  if (event.kind === 'notice') return shown;
  const before = shown.stages[event.stage];
  if (before === undefined) return shown;
  const told = { ...shown, stages: { ...shown.stages, [event.stage]: nextState(before, event, nowMs) } };
  // The error that follows explains the reason in full.
  return event.kind === 'stage-failed' ? { ...told, likely: undefined } : told;
}

function nextState(before: StageState, event: Exclude<WorkflowEvent, { kind: 'notice' }>, nowMs: number): StageState {
  switch (event.kind) {
    case 'stage-started':
      return { state: 'running', note: '', startMs: nowMs };
    case 'stage-paused':
      return before;
    case 'stage-progress':
      return { ...before, progress: event.progress };
    case 'stage-done':
      return { ...before, state: 'done', note: event.note ?? '', ms: event.ms };
    case 'stage-unchanged':
      return { ...before, state: 'done', note: 'done before' };
    case 'stage-adopted':
      return { ...before, state: 'done', note: event.note };
    case 'stage-failed':
      // The error names what was missing, with its reasons.
      return { ...before, state: 'failed', note: '', ms: event.ms };
  }
}

export function createFrame(shown: CreateState, nowMs: number): FrameView {
  const steps = Object.entries(shown.stages).map(([name, stage]): FrameStep => {
    const isRunning = stage.state === 'running';
    const isWatched = isRunning && isWatchedPhase(name);
    const ms = isRunning ? nowMs - stage.startMs : stage.ms;
    const progress = isRunning ? stage.progress : undefined;
    const several = severalIn(progress);
    // A watched phase, and a wait for several machines, has one line per machine instead of a note.
    const isDetailed = isWatched || several.length > 0;
    return {
      name,
      state: stage.state,
      note: isDetailed ? '' : progress === undefined ? stage.note : stageProgressText(progress),
      ...(isDetailed || progress === undefined ? {} : { key: stageProgressKey(progress) }),
      ...(ms === undefined ? {} : { ms }),
      details: isWatched && shown.observed !== undefined ? detailsOf(shown.observed) : isWatched ? [] : several,
    };
  });
  return {
    title: shown.title,
    elapsedMs: nowMs - shown.startMs,
    steps,
    members: membersOf(shown.observed),
    ...heldIn(shown),
    ...(shown.likely === undefined ? {} : { likely: shown.likely }),
  };
}

function heldIn({ observed, dirOption = '' }: CreateState): Pick<FrameView, 'held'> {
  const { bootstrap } = observed ?? {};
  if (bootstrap === undefined || !isHeld(bootstrap)) return {};
  return { held: [`${pausedText(bootstrap.stage)}:`, ...goingOnLines(dirOption)] };
}

/** One line for each missing value; no lines when there is only one. */
function severalIn(progress: StageProgress | undefined): FrameStep['details'] {
  if (progress === undefined || !('missing' in progress) || progress.missing.length < 2) return [];
  return progress.missing.map((each) => ({ name: each.who, text: missingText({ ...each, who: '' }), key: each.key }));
}

function detailsOf({ bootstrap, machines }: ClusterObservation): FrameStep['details'] {
  return machines.map((machine) => {
    const own = machine.role === 'bootstrap' ? bootstrap : undefined;
    return {
      name: machine.name,
      text: bootstrapWords(own) ?? machineWords(machine),
      key: bootstrapKey(own) ?? machineKey(machine),
    };
  });
}

function membersOf(observed: ClusterObservation | undefined): readonly FrameMember[] {
  if (observed === undefined || !isPast(observed.bootstrap, 'control plane')) return [];
  const phase = phaseOf(observed.bootstrap);
  return observed.machines.flatMap(({ name, role, agent }): readonly FrameMember[] => {
    if (role === 'worker') return [];
    if (role === 'bootstrap') return phase === 'masters' || phase === 'handoff' ? [{ name, state: 'voter' }] : [];
    const isSettled = (duty: DutyName): boolean =>
      agent?.duties.some((each) => each.name === duty && each.status === 'settled') === true;
    if (isSettled('etcd-member')) return [{ name, state: 'voter' }];
    return [{ name, state: isSettled('ready-to-join') ? 'joining' : 'absent' }];
  });
}
