// `firstlight bootkube stage`
import { bootkubeErrors } from '../../bootkube/errors.ts';
import { bootkubeStageNames } from '../../contract/bootstrap-stages.ts';
import { argument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { stageOptions, stageWords } from './named-stages.ts';
import { onBootstrap } from './on-bootstrap.ts';

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
    const number = Number(invocation.args.number);
    if (bootkubeStageNames[number - 1] === undefined) {
      throw bootkubeErrors.UNKNOWN_STAGE({ number: invocation.args.number });
    }
    const words = ['bootkube', 'stage', String(number), ...stageWords(invocation.options)];
    return onBootstrap(invocation, words, async () => {
      const { runNumberedStage } = await import('./stage-run.ts');
      return runNumberedStage(invocation, { number, purpose: `firstlight bootkube stage ${number}` });
    });
  },
});
