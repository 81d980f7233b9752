// `firstlight wait-for bootstrap-complete`
import { defineVerb } from '../frame/verb.ts';
import { waitedFor, waitLimits, waitOptions } from './wait-options.ts';

export const waitForBootstrapCompleteVerb = defineVerb({
  options: waitOptions,
  examples: ['firstlight wait-for bootstrap-complete --dir lab'],
  run: async (invocation) => {
    const { waitForBootstrap } = await import('../../cluster/wait-for.ts');
    const patience = waitLimits(invocation);
    return waitedFor(invocation, 'It is now safe to remove the bootstrap resources', () =>
      waitForBootstrap({ ...invocation, dir: invocation.global.dir, patience }),
    );
  },
});
