// The errors that can stop a bootstrap.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const bootkubeErrors = errorTable('BOOTKUBE', {
  INPUT_MISSING: {
    message: (e: { path: string }) => `${e.path} is not here`,
    hint: 'A bootstrap machine gets its inputs from bootstrap.ign. Boot it with the one of this cluster.',
    means: 'The bootstrap reads what Ignition wrote under /opt/firstlight. A part of that is missing.',
    exit: exitCodes.bootstrapFailed,
  },
  ALTERED: {
    message: (e: { stage: string; files: readonly string[] }) =>
      `the output of stage ${e.stage} is not what that stage wrote: ${e.files.join(', ')}`,
    hint: (e: { stage: string; files: readonly string[] }) =>
      `firstlight bootkube stage ${e.stage.split(' ')[0]} renders it again; look first at who changed it.`,
    means: 'Every stage records the digests of what it wrote. Stage 13 starts nothing from files that changed since.',
    exit: exitCodes.bootstrapFailed,
  },
  NOT_RENDERED: {
    message: (e: { stage: string }) => `stage ${e.stage} has not been run`,
    hint: 'firstlight bootkube render-all runs the stages 1 to 12.',
    means: 'A stage builds on the output of earlier ones, and one of them has not produced anything yet.',
    exit: exitCodes.bootstrapFailed,
  },
  UNKNOWN_STAGE: {
    message: (e: { number: string }) => `there is no stage ${e.number}`,
    hint: 'firstlight bootkube stages lists them.',
    means: 'The stages are numbered 1 to 15.',
    exit: exitCodes.usage,
  },
});
