// The phases of a bootstrap that a person follows, derived from the stage that the bootstrap machine reports.
import type { BootstrapProgress } from '../contract/bootstrap-progress.ts';
import { bootkubeStageNames, handoffStageNames, mastersStageNames } from '../contract/bootstrap-stages.ts';

/** The parts of a bootstrap that `create cluster` waits for, one after the other. */
export type WatchedPhase = 'control plane' | 'masters' | 'handoff' | 'add-ons';
export type Phase = WatchedPhase | 'complete';

interface PhaseRow {
  readonly phase: WatchedPhase;
  /** The stages of the bootstrap machine that belong to it, in their order. */
  readonly stages: readonly string[];
  /** The phase ends only when the bootstrap is complete: after its last stage the secrets are removed. */
  readonly isOpenEnded?: boolean;
}

const phaseTable: readonly PhaseRow[] = [
  { phase: 'control plane', stages: bootkubeStageNames },
  { phase: 'masters', stages: mastersStageNames },
  { phase: 'handoff', stages: handoffStageNames },
  { phase: 'add-ons', stages: ['add-ons', 'nodes'], isOpenEnded: true },
];

const phases: readonly Phase[] = [...phaseTable.map(({ phase }) => phase), 'complete'];

export function isWatchedPhase(name: string): boolean {
  return phaseTable.some(({ phase }) => phase === name);
}

/** The phase that is under way; a stage that is done and ends its phase counts for the next one. */
export function phaseOf(progress: BootstrapProgress | undefined): Phase {
  if (progress === undefined) return 'control plane';
  if (progress.isComplete) return 'complete';
  const { stage, state } = progress;
  const index = phaseTable.findIndex((row) => row.stages.includes(stage));
  const current = phaseTable[index];
  if (current === undefined) return 'control plane';
  const isOver = state === 'done' && current.stages.at(-1) === stage && current.isOpenEnded !== true;
  return phases[isOver ? index + 1 : index] ?? 'complete';
}

export function isPast(progress: BootstrapProgress | undefined, phase: Phase): boolean {
  return phases.indexOf(phaseOf(progress)) > phases.indexOf(phase);
}

/** Whether a person holds the bootstrap before its next stage. */
export function isHeld(progress: BootstrapProgress | undefined): boolean {
  return progress?.state === 'paused';
}

/** `bootkube 7 etcd`, `control-planes`. */
export function stageTitle(name: string): string {
  const index = bootkubeStageNames.indexOf(name);
  return index < 0 ? name : `bootkube ${index + 1} ${name}`;
}
