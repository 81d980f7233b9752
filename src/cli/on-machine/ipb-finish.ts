// `firstlight ipb finish ATTEMPT`: what ipb-finish@<attempt>.service runs on a host.

import { argument } from '../frame/option.ts';
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';

export const ipbFinishVerb = defineVerb({
  description:
    'Follows an attempt from the start of the kubelet to its end, and removes what it brought to this machine: ' +
    'secrets, units, program. The state file stays.',
  args: { attempt: argument('the id of the attempt, as its settings below /var/lib/ipb have it') },
  examples: ['firstlight ipb finish 5f0c9c9e-8a53-4f0c-9d3c-0a4f3c1f8f62'],
  run: async ({ host, terminal, args, signal }) => {
    const { finishAttempt } = await import('../../in-place/on-host/finish-attempt.ts');
    // The program removes itself: what prints its result is loaded before.
    await import('../frame/print.ts');
    const log = (line: string): void => terminal.err(`${line}\n`);
    const attempt = await finishAttempt(host, args.attempt, { agentVersion: firstlightVersion, signal, log });
    return { data: attempt, text: `${attempt.phase}\n` };
  },
});
