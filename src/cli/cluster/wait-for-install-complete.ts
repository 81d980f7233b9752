// `firstlight wait-for install-complete`
import { defineVerb } from '../frame/verb.ts';
import { waitedFor, waitLimits, waitOptions } from './wait-options.ts';

export const waitForInstallCompleteVerb = defineVerb({
  options: waitOptions,
  examples: ['firstlight wait-for install-complete --dir lab'],
  run: async (invocation) => {
    const { waitForInstall } = await import('../../cluster/wait-for.ts');
    const patience = waitLimits(invocation);
    return waitedFor(invocation, 'Install complete!', () =>
      waitForInstall({ ...invocation, dir: invocation.global.dir, patience }),
    );
  },
});
