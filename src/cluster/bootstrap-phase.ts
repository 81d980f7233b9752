// How far a bootstrap is, from the stage that the bootstrap machine names: the parts of it that a person follows.
import { handoffStages, stages } from '../bootkube/stages.ts';
import type { BootstrapProgress } from '../contract/bootstrap-progress.ts';

export const phases = ['control plane', 'masters', 'handoff', 'add-ons', 'complete'] as const;
export type Phase = (typeof phases)[number];

const stagesOf: Readonly<Record<Exclude<Phase, 'complete'>, readonly string[]>> = {
  'control plane': stages.map(({ name }) => name),
  masters: handoffStages.slice(0, 2).map(({ name }) => name),
  handoff: handoffStages.slice(2).map(({ name }) => name),
  'add-ons': ['add-ons', 'nodes'],
};

/** The phase that is under way; a stage that is done and ends its phase counts for the next one. */
export function phaseOf(progress: BootstrapProgress | undefined): Phase {
  if (progress === undefined) return 'control plane';
  if (progress.isComplete) return 'complete';
  for (const phase of ['control plane', 'masters', 'handoff', 'add-ons'] as const) {
    const names = stagesOf[phase];
    if (!names.includes(progress.stage)) continue;
    const isOver = progress.state === 'done' && names.at(-1) === progress.stage && phase !== 'add-ons';
    return isOver ? (phases[phases.indexOf(phase) + 1] ?? phase) : phase;
  }
  return 'control plane';
}

export function isPast(progress: BootstrapProgress | undefined, phase: Phase): boolean {
  return phases.indexOf(phaseOf(progress)) > phases.indexOf(phase);
}

/** `bootkube 7 etcd`, `control-planes`. */
export function stageTitle(name: string): string {
  const stage = stages.find((candidate) => candidate.name === name);
  return stage?.number === undefined ? name : `bootkube ${stage.number} ${name}`;
}
