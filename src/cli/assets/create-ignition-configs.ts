// `firstlight create ignition-configs`
import { defineVerb } from '../frame/verb.ts';

export const createIgnitionConfigsVerb = defineVerb({
  description:
    'Makes bootstrap.ign, master.ign and worker.ign, the keys they need in tls/, and auth/kubeconfig for you. Run it again after any edit: what depends on the edit is made anew, everything else stays, keys included.',
  examples: ['firstlight create ignition-configs', 'firstlight create ignition-configs --dir lab'],
  run: async (invocation) => {
    const { createTarget } = await import('./create-target.ts');
    return createTarget(invocation, 'ignition-configs');
  },
});
