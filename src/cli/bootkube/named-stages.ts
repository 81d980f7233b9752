// Stages under the names of the original's scripts: `firstlight bootkube render-etcd` is stage 7.
import { flag } from '../frame/option.ts';
import { defineVerb, type Verb } from '../frame/verb.ts';

export const stageOptions = {
  show: flag('--show', 'explain the stage and show what it rendered; run nothing'),
  step: flag('--step', 'explain first, then ask before running'),
};

const numbers = {
  'render-etcd': 7,
  'render-kube-apiserver': 8,
  'render-kcm': 9,
  'render-scheduler': 10,
  'render-cvo': 6,
  'render-mco': 12,
  'start-bootstrap': 13,
};

export function namedStageVerb(name: keyof typeof numbers): Verb {
  return defineVerb({
    options: stageOptions,
    examples: [`firstlight bootkube ${name} --show`],
    run: async (invocation) => {
      const { runNumberedStage } = await import('./stage-run.ts');
      return runNumberedStage(invocation, numbers[name]);
    },
  });
}
