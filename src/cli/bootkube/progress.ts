// `firstlight progress`: what progress.service runs on the bootstrap machine.
import { defineVerb } from '../frame/verb.ts';

export const progressVerb = defineVerb({
  examples: ['firstlight progress'],
  run: async (invocation) => {
    const { mirrorProgress } = await import('../../bootkube/mirror-progress.ts');
    await mirrorProgress(invocation);
    return { data: { status: 'complete' }, text: '' };
  },
});
