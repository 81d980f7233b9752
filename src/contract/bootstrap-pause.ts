// Where a bootstrap is held: the point before which bootkube waits for a person. Ignition writes the file (`create
// cluster --step`, `--pause-before`), `bootkube pause`, `next` and `continue` change it; bootkube looks at it before
// every stage. No file means that nothing is held. It stays when bootkube or its machine is killed. Verbs name its
// points in their help, so it is read without a schema library, which would cost each start 40 ms.
import { dirname } from 'node:path';
import type { Files } from '../host/files.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { bootkubeState } from './bootstrap-paths.ts';
import { bootkubeStageNames, handoffStageNames, mastersStageNames } from './bootstrap-stages.ts';

export const pauseFile = `${bootkubeState}/pause.json`;

/** The stages of the handoff are one point: between them the cluster would have nobody who serves it. */
const handoffPoint = 'handoff';

/** In the order in which a bootstrap comes to them. */
export const pausePoints: readonly string[] = [...bootkubeStageNames, ...mastersStageNames, handoffPoint];

export interface BootstrapPause {
  /** One of the points. */
  readonly before: string;
}

/** Undefined where the value names no point. */
export function pauseIn(value: unknown): BootstrapPause | undefined {
  const { before } = (value ?? {}) as { readonly before?: unknown };
  const point = pausePoints.find((known) => known === before);
  return point === undefined ? undefined : { before: point };
}

export const everyStage: BootstrapPause = { before: pausePoints[0] ?? '' };

/** From what a person types: `7`, `etcd`, `handoff`. Undefined if it names no point. */
export function pausePointNamed(typed: string): string | undefined {
  return pausePoints.find((point) => point === typed) ?? bootkubeStageNames[Number(typed) - 1];
}

/** The point at which the stage begins; undefined if nobody can be held there. */
export function pausePointOf(stage: string): string | undefined {
  return stage === handoffStageNames[0] ? handoffPoint : pausePoints.find((point) => point === stage);
}

/** The stages that run when a person goes on from this point to the next one. */
export function stagesOfPoint(point: string): readonly string[] {
  return point === handoffPoint ? handoffStageNames : [point];
}

/** Undefined after the last point. */
export function pointAfter(point: string): string | undefined {
  return pausePoints[pausePoints.indexOf(point) + 1];
}

/** `7 etcd`, `masters`, `handoff`. */
export function pausePointTitle(point: string): string {
  const index = bootkubeStageNames.indexOf(point);
  return index < 0 ? point : `${index + 1} ${point}`;
}

export function isHeldBefore(stage: string, pause: BootstrapPause | undefined): boolean {
  const point = pausePointOf(stage);
  if (pause === undefined || point === undefined) return false;
  return pausePoints.indexOf(point) >= pausePoints.indexOf(pause.before);
}

/** `paused before 7 etcd`; `stage` as in progress.json. */
export function pausedText(stage: string): string {
  return `paused before ${pausePointTitle(pausePointOf(stage) ?? stage)}`;
}

/** What a person types to go on, a line each. `dirOption` names the asset folder where the command needs it. */
export function goingOnLines(dirOption = ''): readonly string[] {
  return [`firstlight bootkube next${dirOption} runs it,`, `firstlight bootkube continue${dirOption} all that follows`];
}

/** The same in one line. */
export function goingOnText(dirOption = ''): string {
  return goingOnLines(dirOption).join(' ');
}

export function pauseText(pause: BootstrapPause): string {
  return `${JSON.stringify(pause)}\n`;
}

/** Undefined while nothing is held. A file that cannot be read holds everything: somebody wanted to be asked. */
export async function readPause(files: Pick<Files, 'readIfPresent'>): Promise<BootstrapPause | undefined> {
  const content = await files.readIfPresent(pauseFile);
  if (content === undefined) return undefined;
  return pauseIn(jsonIfValid(content)) ?? everyStage;
}

export async function writePause(files: Files, pause: BootstrapPause | undefined): Promise<void> {
  if (pause === undefined) return files.remove(pauseFile);
  await files.makeFolder(dirname(pauseFile), { mode: 0o700 });
  await files.write(pauseFile, pauseText(pause), { mode: 0o600 });
}

/** The environment variable that tells a verb inside the machine which --dir the person typed outside. */
export const dirOptionVariable = 'FIRSTLIGHT_DIR_OPTION';
