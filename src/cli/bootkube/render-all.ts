// `firstlight bootkube render-all`
import { defineVerb } from '../frame/verb.ts';
import { onBootstrap } from './on-bootstrap.ts';

export const bootkubeRenderAllVerb = defineVerb({
  examples: ['firstlight bootkube render-all'],
  run: async (invocation) =>
    onBootstrap(invocation, ['bootkube', 'render-all'], async () => {
      const { renderAllStages } = await import('./stage-run.ts');
      return renderAllStages(invocation);
    }),
});
