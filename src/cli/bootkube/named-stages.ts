// Stages under the names of the original's scripts: `firstlight bootkube render-etcd` is stage 7. The script of that
// name on the bootstrap machine runs the verb.
import { type NamedStage, namedStages } from '../../contract/bootstrap-stages.ts';
import { flag, type ValuesOf } from '../frame/option.ts';
import { defineVerb, type Verb } from '../frame/verb.ts';
import { onBootstrap } from './on-bootstrap.ts';

export const stageOptions = {
  show: flag('--show', 'explain the stage and show what it wrote; run nothing'),
  step: flag('--step', 'explain first, then ask before running'),
  inContainer: flag('--in-container', 'render as the original does: in a container of the image, whoever it is of'),
};

export function stageWords({ show, step, inContainer }: ValuesOf<typeof stageOptions>): readonly string[] {
  return [...(show ? ['--show'] : []), ...(step ? ['--step'] : []), ...(inContainer ? ['--in-container'] : [])];
}

export function namedStageVerb(name: NamedStage): Verb {
  return defineVerb({
    options: stageOptions,
    examples: [`firstlight bootkube ${name} --show`],
    run: async (invocation) =>
      onBootstrap(invocation, ['bootkube', name, ...stageWords(invocation.options)], async () => {
        const { runNumberedStage } = await import('./stage-run.ts');
        return runNumberedStage(invocation, { number: namedStages[name], purpose: `firstlight bootkube ${name}` });
      }),
  });
}
