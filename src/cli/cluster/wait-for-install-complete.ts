// `firstlight wait-for install-complete`
import { defineVerb } from '../frame/verb.ts';
import { waitLimits, waitOptions } from './wait-options.ts';

export const waitForInstallCompleteVerb = defineVerb({
  options: waitOptions,
  examples: ['firstlight wait-for install-complete --dir lab'],
  run: async (invocation) => {
    const { waitForInstall } = await import('../../cluster/wait-for.ts');
    await waitForInstall({ ...invocation, dir: invocation.global.dir, patience: waitLimits(invocation) });
    return { data: { status: 'complete' }, text: 'Install complete!\n' };
  },
});
