// A person moves the pause of a bootstrap: sets it, lets one stage run, lets all run. bootkube.service runs the stages;
// these functions change the pause file and follow what the service reports, so they may be killed at any moment.

import { handoffMark, removalMark } from '../contract/bootstrap-paths.ts';
import {
  type BootstrapPause,
  pausePointOf,
  pausePoints,
  pausePointTitle,
  pointAfter,
  readPause,
  stagesOfPoint,
  writePause,
} from '../contract/bootstrap-pause.ts';
import { type BootstrapProgress, parseBootstrapProgress, progressFile } from '../contract/bootstrap-progress.ts';
import { bootkubeStageNames, handoffStageNames, mastersStageNames } from '../contract/bootstrap-stages.ts';
import { programs } from '../contract/machine-paths.ts';
import { waitingFor } from '../contract/missing.ts';
import { stageProgressKey } from '../contract/stage-progress.ts';
import type { Host } from '../host/host.ts';
import { bootkubeUnit } from '../machine-software/bootstrap-units.ts';
import type { Emit } from '../workflow/events.ts';
import { type Observation, waitUntil } from '../workflow/wait.ts';
import { bootkubeErrors } from './errors.ts';

export interface GoOnOptions {
  readonly host: Host;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Where a bootstrap is; `held` names the point before which it waits now. */
export interface BootstrapPlace {
  readonly pause: BootstrapPause | undefined;
  readonly progress: BootstrapProgress | undefined;
  readonly held: string | undefined;
}

export async function bootstrapPlace({ files }: Pick<Host, 'files'>): Promise<BootstrapPlace> {
  const [pause, content] = await Promise.all([readPause(files), files.readIfPresent(progressFile)]);
  const progress = content === undefined ? undefined : parseBootstrapProgress(Buffer.from(content).toString('utf8'));
  const held = pause !== undefined && progress?.state === 'paused' ? pausePointOf(progress.stage) : undefined;
  return { pause, progress, held };
}

/** Holds the bootstrap before this point, or before the next one that it comes to. Returns the point. */
export async function pauseBootstrap(host: Host, point: string | undefined): Promise<string> {
  await refuseOver(host);
  const { progress } = await bootstrapPlace(host);
  const first = firstFreePoint(progress);
  const before = point ?? first;
  const isLate = (await host.files.facts(handoffMark)) !== undefined;
  if (before === undefined || first === undefined || isLate || isEarlier(before, first)) {
    throw bootkubeErrors.TOO_LATE({ point: pausePointTitle(before ?? 'handoff'), at: progress?.stage ?? 'its end' });
  }
  await writePause(host.files, { before });
  return before;
}

function isEarlier(point: string, other: string): boolean {
  return pausePoints.indexOf(point) < pausePoints.indexOf(other);
}

/** The first point that the bootstrap has not passed; undefined after the last one. */
function firstFreePoint(progress: BootstrapProgress | undefined): string | undefined {
  if (progress === undefined) return pausePoints[0];
  const point = pausePoints.find((each) => stagesOfPoint(each).includes(progress.stage));
  if (point === undefined) return undefined;
  return progress.state === 'paused' ? point : pointAfter(point);
}

/** Lets everything run. Returns the point that it goes on from; undefined if nothing was held. */
export async function continueBootstrap(options: GoOnOptions): Promise<string | undefined> {
  const { host } = options;
  await refuseOver(host);
  const { pause } = await bootstrapPlace(host);
  if (pause === undefined) return undefined;
  await refuseStopped(options);
  await writePause(host.files, undefined);
  return pause.before;
}

/** The point that `next` would run: the one before which the bootstrap is, or soon will be, held. */
export async function nextPoint({ host }: Pick<GoOnOptions, 'host'>): Promise<string> {
  await refuseOver(host);
  const { pause } = await bootstrapPlace(host);
  if (pause === undefined) throw bootkubeErrors.NOT_PAUSED({});
  return pause.before;
}

const arrivalMs = 10 * 60_000;
/** More than any stage waits for: its own error says more. */
const longestStageMs = 40 * 60_000;

/** Lets the stages of one point run and follows them to their end. Returns the point before which it is held then. */
export async function runNextPoint(options: GoOnOptions, point: string): Promise<string | undefined> {
  const { host } = options;
  await follow(options, {
    what: `the arrival of the bootstrap before ${pausePointTitle(point)}`,
    deadlineMs: arrivalMs,
    isThere: ({ held }) => held === point,
  });
  const following = pointAfter(point);
  const sinceMs = host.clock.now().getTime();
  await writePause(host.files, following === undefined ? undefined : { before: following });
  await follow(options, {
    what: `the end of ${pausePointTitle(point)}`,
    deadlineMs: longestStageMs,
    isThere: (place) => hasPassed(place, { point, sinceMs }),
  });
  return following;
}

interface Step {
  readonly point: string;
  /** What was reported before is not about this run. */
  readonly sinceMs: number;
}

/** Whether the step is over. Throws if its stage failed: the service would repeat it for ever. */
export function hasPassed({ progress }: Pick<BootstrapPlace, 'progress'>, { point, sinceMs }: Step): boolean {
  if (progress === undefined || Date.parse(progress.at) < sinceMs) return false;
  const { stage, state, reason = 'no reason was reported' } = progress;
  const own = stagesOfPoint(point);
  if (!own.includes(stage)) return progress.isComplete || isLater(stage, own);
  if (state === 'failed') throw bootkubeErrors.STAGE_FAILED({ stage: pausePointTitle(stage), reason });
  // After the last stage of all there is no other one to be seen at.
  return state === 'done' && stage === handoffStageNames.at(-1);
}

const order: readonly string[] = [...bootkubeStageNames, ...mastersStageNames, ...handoffStageNames];

/** Stages that are not in the order belong to later units. */
function isLater(stage: string, own: readonly string[]): boolean {
  return !order.includes(stage) || order.indexOf(stage) > order.indexOf(own.at(-1) ?? '');
}

interface Followed {
  readonly what: string;
  readonly deadlineMs: number;
  readonly isThere: (place: BootstrapPlace) => boolean;
}

/** Tells what the stages report meanwhile. */
async function follow(options: GoOnOptions, { what, deadlineMs, isThere }: Followed): Promise<void> {
  const { host, emit, signal } = options;
  let told = '';
  await waitUntil({
    clock: host.clock,
    what,
    deadlineMs,
    everyMs: 100,
    signal,
    probe: async (): Promise<Observation<true>> => {
      const place = await bootstrapPlace(host);
      if (isThere(place)) return { status: 'ready', value: true };
      await refuseStopped(options);
      const { stage = 'its start', state, progress } = place.progress ?? {};
      const key = progress === undefined ? '' : stageProgressKey(progress);
      if (progress !== undefined && state === 'running' && key !== told)
        emit({ kind: 'stage-progress', stage, progress });
      told = key;
      return { status: 'waiting', missing: [waitingFor(bootkubeUnit.name, `is at ${stage}`)] };
    },
  });
}

async function refuseOver({ files }: Pick<Host, 'files'>): Promise<void> {
  if ((await files.facts(removalMark)) !== undefined) throw bootkubeErrors.OVER({});
}

/** A oneshot that runs, or waits to be restarted, is `activating`; one that has succeeded stays `active`. */
async function refuseStopped({ host, signal }: Pick<GoOnOptions, 'host' | 'signal'>): Promise<void> {
  const { stdout } = await host.processes.run(programs.systemctl, ['is-active', bootkubeUnit.name], { signal });
  const state = stdout.trim();
  if (!['activating', 'active'].includes(state)) throw bootkubeErrors.SERVICE_DOWN({ state });
}
