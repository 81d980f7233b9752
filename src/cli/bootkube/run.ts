// `firstlight bootkube run`: what bootkube.service runs on the bootstrap machine.
import { defineVerb } from '../frame/verb.ts';

export const bootkubeRunVerb = defineVerb({
  examples: ['firstlight bootkube run'],
  run: async (invocation) => {
    const { runService } = await import('../../bootkube/run-service.ts');
    const { bootkubeService } = await import('../../bootkube/stages.ts');
    await runService(bootkubeService, invocation);
    return { data: { status: 'complete' }, text: 'bootkube.service complete\n' };
  },
});
