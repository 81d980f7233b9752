// `firstlight bootkube run`: what bootkube.service runs on the bootstrap machine.
import { defineVerb } from '../frame/verb.ts';

export const bootkubeRunVerb = defineVerb({
  examples: ['firstlight bootkube run'],
  run: async (invocation) => {
    const { runBootstrap } = await import('../../bootkube/run-bootstrap.ts');
    await runBootstrap(invocation);
    return { data: { status: 'complete' }, text: 'bootkube.service complete\n' };
  },
});
