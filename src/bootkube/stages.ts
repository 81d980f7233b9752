// The bootstrap, top to bottom: fifteen stages by the numbers and names of the original. Twelve render, three start.
import type { Stage } from '../workflow/stage.ts';
import type { BootkubeContext } from './context.ts';
import { bootkubeErrors } from './errors.ts';
import { renderStages } from './render-stages.ts';
import { clusterBootstrap } from './stages/13-cluster-bootstrap.ts';
import { versionOverrides } from './stages/14-version-overrides.ts';
import { apiVerification } from './stages/15-api-verification.ts';

export const stages: readonly Stage<BootkubeContext>[] = [
  ...renderStages,
  clusterBootstrap,
  versionOverrides,
  apiVerification,
];

export function stageNumbered(number: number): Stage<BootkubeContext> {
  const found = stages.find((stage) => stage.number === number);
  if (found === undefined) throw bootkubeErrors.UNKNOWN_STAGE({ number: String(number) });
  return found;
}
