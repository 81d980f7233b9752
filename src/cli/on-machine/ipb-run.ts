// `firstlight ipb run ATTEMPT`: what ipb-run@<attempt>.service runs on a host.

import { argument } from '../frame/option.ts';
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';

export const ipbRunVerb = defineVerb({
  description:
    'Changes this machine for one attempt: stops agent and kubelet, waits until the label of the node is gone, applies ' +
    'the configuration, reboots, and hands over to ipb finish. It may be started again anywhere.',
  args: { attempt: argument('the id of the attempt, as its settings below /var/lib/ipb have it') },
  examples: ['firstlight ipb run 5f0c9c9e-8a53-4f0c-9d3c-0a4f3c1f8f62'],
  run: async ({ host, terminal, args, signal }) => {
    const { runAttempt } = await import('../../in-place/on-host/run-attempt.ts');
    const log = (line: string): void => terminal.err(`${line}\n`);
    const attempt = await runAttempt(host, args.attempt, { agentVersion: firstlightVersion, signal, log });
    return { data: attempt, text: `${attempt.phase}\n` };
  },
});
