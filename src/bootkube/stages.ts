// The bootstrap, top to bottom: fifteen stages by the numbers and names of the original (twelve render, three start),
// then the five steps of the handoff.
import type { Stage } from '../workflow/stage.ts';
import type { BootkubeContext } from './context.ts';
import { bootkubeErrors } from './errors.ts';
import { renderStages } from './render-stages.ts';
import { commit } from './handoff/commit.ts';
import { leaveEtcd, stopServing } from './handoff/let-go.ts';
import { masters } from './handoff/masters.ts';
import { serving } from './handoff/serving.ts';
import { clusterBootstrap } from './stages/13-cluster-bootstrap.ts';
import { versionOverrides } from './stages/14-version-overrides.ts';
import { apiVerification } from './stages/15-api-verification.ts';

export const stages: readonly Stage<BootkubeContext>[] = [
  ...renderStages,
  clusterBootstrap,
  versionOverrides,
  apiVerification,
];

/** What makes the masters carry the cluster; none of it is in the original's list of stages. */
export const handoffStages: readonly Stage<BootkubeContext>[] = [masters, serving, commit, stopServing, leaveEtcd];

export function stageNumbered(number: number): Stage<BootkubeContext> {
  const found = stages.find((stage) => stage.number === number);
  if (found === undefined) throw bootkubeErrors.UNKNOWN_STAGE({ number: String(number) });
  return found;
}
