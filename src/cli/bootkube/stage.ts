// `firstlight bootkube stage`
import { bootkubeErrors } from '../../bootkube/errors.ts';
import { argument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { stageOptions } from './named-stages.ts';

export const bootkubeStageVerb = defineVerb({
  description:
    'Every stage explains what it does and why, shows what the original ran at this point, and renders into its own folder. What can be checked there is verified before the next stage may start.',
  args: { number: argument('1 to 15') },
  options: stageOptions,
  examples: [
    'firstlight bootkube stage 7 --show',
    'firstlight bootkube stage 8 --step',
    'firstlight bootkube stage 13',
  ],
  run: async (invocation) => {
    const typed = invocation.args.number;
    const { runNumberedStage } = await import('./stage-run.ts');
    if (!Number.isInteger(Number(typed))) throw bootkubeErrors.UNKNOWN_STAGE({ number: typed });
    return runNumberedStage(invocation, Number(typed));
  },
});
