// `firstlight tectonic`: what tectonic.service runs on the bootstrap machine.
import { defineVerb } from '../frame/verb.ts';

export const tectonicVerb = defineVerb({
  examples: ['firstlight tectonic'],
  run: async (invocation) => {
    const { deployAddons } = await import('../../bootkube/tectonic.ts');
    await deployAddons(invocation);
    return { data: { status: 'complete' }, text: 'tectonic.service complete\n' };
  },
});
