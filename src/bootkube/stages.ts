// The stages of the bootstrap in their order: fifteen stages with the numbers and names of the original bootkube
// (twelve render, three start), then the five stages of the handoff.
import type { Stage } from '../workflow/stage.ts';
import type { BootkubeContext } from './context.ts';
import { bootkubeErrors } from './errors.ts';
import { commit } from './handoff/commit.ts';
import { controlPlanes } from './handoff/control-planes.ts';
import { leaveEtcd } from './handoff/leave-etcd.ts';
import { masters } from './handoff/masters.ts';
import { stopServing } from './handoff/stop-serving.ts';
import type { NumberedStage } from './render-stage.ts';
import { renderStages } from './render-stages.ts';
import type { BootstrapService } from './run-service.ts';
import { clusterBootstrap } from './stages/13-cluster-bootstrap.ts';
import { versionOverrides } from './stages/14-version-overrides.ts';
import { apiVerification } from './stages/15-api-verification.ts';

export const stages: readonly NumberedStage[] = [...renderStages, clusterBootstrap, versionOverrides, apiVerification];

/** Until the masters can run the cluster. The original has no numbered stages for this part and for the handoff. */
export const mastersStages: readonly Stage<BootkubeContext>[] = [masters, controlPlanes];

/** From the record that the masters run the cluster, until this machine is no longer part of it. */
export const handoffStages: readonly Stage<BootkubeContext>[] = [commit, stopServing, leaveEtcd];

/** One of the stages after the numbered ones. */
export function laterStageNamed(name: string): Stage<BootkubeContext> | undefined {
  return [...mastersStages, ...handoffStages].find((stage) => stage.name === name);
}

export function stageNumbered(number: number): NumberedStage {
  const found = stages.find((stage) => stage.number === number);
  if (found === undefined) throw bootkubeErrors.UNKNOWN_STAGE({ number: String(number) });
  return found;
}

/** All stages of bootkube.service. */
export const bootkubeService: BootstrapService = {
  name: 'bootkube',
  stages: [...stages, ...mastersStages, ...handoffStages],
};
