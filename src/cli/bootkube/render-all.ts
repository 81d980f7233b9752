// `firstlight bootkube render-all`
import { defineVerb } from '../frame/verb.ts';

export const bootkubeRenderAllVerb = defineVerb({
  examples: ['firstlight bootkube render-all'],
  run: async (invocation) => {
    const { renderAllStages } = await import('./stage-run.ts');
    return renderAllStages(invocation);
  },
});
