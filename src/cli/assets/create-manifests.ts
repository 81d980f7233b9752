// `firstlight create manifests`
import { defineVerb } from '../frame/verb.ts';

export const createManifestsVerb = defineVerb({
  description:
    'They land in manifests/. Edit them, add files beside them, remove what you do not want: your files win, ride along into bootstrap.ign, and are never overwritten.',
  examples: ['firstlight create manifests', 'firstlight create manifests --dir lab -o json'],
  run: async (invocation) => {
    const { createTarget } = await import('./create-target.ts');
    return createTarget(invocation, 'manifests');
  },
});
