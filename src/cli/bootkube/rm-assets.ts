// `firstlight rm-assets`: what rm-assets.service runs on the bootstrap machine.
import { defineVerb } from '../frame/verb.ts';

export const rmAssetsVerb = defineVerb({
  examples: ['firstlight rm-assets'],
  run: async (invocation) => {
    const { removeAssets } = await import('../../bootkube/rm-assets.ts');
    await removeAssets(invocation);
    return { data: { status: 'complete' }, text: 'rm-assets.service complete\n' };
  },
});
