// `firstlight tectonic`: what tectonic.service runs on the bootstrap machine.
import { defineVerb } from '../frame/verb.ts';

export const tectonicVerb = defineVerb({
  examples: ['firstlight tectonic'],
  run: async (invocation) => {
    const { runService } = await import('../../bootkube/run-service.ts');
    const { addonService } = await import('../../bootkube/add-ons.ts');
    await runService(addonService, invocation);
    return { data: { status: 'complete' }, text: 'tectonic.service complete\n' };
  },
});
