// What `create cluster` shows, from the events of its stages and the last sight of the machines: facts → one value that
// terminal and pipe both read.
import type { FrameMember, FrameStep, FrameView } from '../screen/frame.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { isPast, isWatchedPhase, phaseOf } from './bootstrap-phase.ts';
import { machineKey, machineWords } from './machine-words.ts';
import { bootstrapKey, bootstrapWords } from './cluster-missing.ts';
import type { ClusterSight } from './observe-cluster.ts';
import { missingText } from '../contract/missing.ts';
import { type StageProgress, stageProgressKey, stageProgressText } from '../contract/stage-progress.ts';

interface StageState {
  readonly state: FrameStep['state'];
  readonly note: string;
  /** While it runs: what it does or waits for. */
  readonly progress?: StageProgress;
  readonly startMs: number;
  readonly ms?: number;
}

export interface CreateStory {
  readonly startMs: number;
  readonly title: string;
  readonly stages: Readonly<Record<string, StageState>>;
  readonly sight: ClusterSight | undefined;
  /** The likeliest reason why nothing moves; undefined while something does. */
  readonly likely?: string | undefined;
}

export function beginStory(names: readonly string[], title: string, startMs: number): CreateStory {
  const untouched = { state: 'waiting', note: '', startMs } as const;
  return { startMs, title, stages: Object.fromEntries(names.map((name) => [name, untouched])), sight: undefined };
}

/** The story after one more event. */
export function tellStory(story: CreateStory, event: WorkflowEvent, nowMs: number): CreateStory {
  if (event.kind === 'notice') return story;
  const before = story.stages[event.stage];
  if (before === undefined) return story;
  const told = { ...story, stages: { ...story.stages, [event.stage]: nextState(before, event, nowMs) } };
  // An error that follows says why, and more of it.
  return event.kind === 'stage-failed' ? { ...told, likely: undefined } : told;
}

function nextState(before: StageState, event: Exclude<WorkflowEvent, { kind: 'notice' }>, nowMs: number): StageState {
  switch (event.kind) {
    case 'stage-started':
      return { state: 'running', note: '', startMs: nowMs };
    case 'stage-progress':
      return { ...before, progress: event.progress };
    case 'stage-done':
      return { ...before, state: 'done', note: event.note ?? '', ms: event.ms };
    case 'stage-unchanged':
      return { ...before, state: 'done', note: 'done before' };
    case 'stage-adopted':
      return { ...before, state: 'done', note: event.note };
    case 'stage-failed':
      // What was missing stands in the error, with its reasons.
      return { ...before, state: 'failed', note: '', ms: event.ms };
  }
}

export function createFrame(story: CreateStory, nowMs: number): FrameView {
  const steps = Object.entries(story.stages).map(([name, stage]): FrameStep => {
    const isRunning = stage.state === 'running';
    const isWatched = isRunning && isWatchedPhase(name);
    const ms = isRunning ? nowMs - stage.startMs : stage.ms;
    const progress = isRunning ? stage.progress : undefined;
    const several = severalIn(progress);
    // What a watched phase waits for is in its details, and so is what does not fit into one line.
    const isDetailed = isWatched || several.length > 0;
    return {
      name,
      state: stage.state,
      note: isDetailed ? '' : progress === undefined ? stage.note : stageProgressText(progress),
      ...(isDetailed || progress === undefined ? {} : { key: stageProgressKey(progress) }),
      ...(ms === undefined ? {} : { ms }),
      details: isWatched && story.sight !== undefined ? detailsOf(story.sight) : isWatched ? [] : several,
    };
  });
  return {
    title: story.title,
    elapsedMs: nowMs - story.startMs,
    steps,
    members: membersOf(story.sight),
    ...(story.likely === undefined ? {} : { likely: story.likely }),
  };
}

/** One line for each that is missing; none where there is only one. */
function severalIn(progress: StageProgress | undefined): FrameStep['details'] {
  if (progress === undefined || !('missing' in progress) || progress.missing.length < 2) return [];
  return progress.missing.map((each) => ({ name: each.who, text: missingText({ ...each, who: '' }), key: each.key }));
}

function detailsOf({ bootstrap, machines }: ClusterSight): FrameStep['details'] {
  return machines.map((machine) => {
    const own = machine.role === 'bootstrap' ? bootstrap : undefined;
    return {
      name: machine.name,
      text: bootstrapWords(own) ?? machineWords(machine),
      key: bootstrapKey(own) ?? machineKey(machine),
    };
  });
}

function membersOf(sight: ClusterSight | undefined): readonly FrameMember[] {
  if (sight === undefined || !isPast(sight.bootstrap, 'control plane')) return [];
  const phase = phaseOf(sight.bootstrap);
  return sight.machines.flatMap(({ name, role, agent }): readonly FrameMember[] => {
    if (role === 'worker') return [];
    if (role === 'bootstrap') return phase === 'masters' || phase === 'handoff' ? [{ name, state: 'voter' }] : [];
    const isSettled = (duty: string): boolean =>
      agent?.duties.some((each) => each.name === duty && each.status === 'settled') === true;
    if (isSettled('etcd-member')) return [{ name, state: 'voter' }];
    return [{ name, state: isSettled('ready-to-join') ? 'joining' : 'absent' }];
  });
}
