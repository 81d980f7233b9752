// `firstlight gather bootstrap`
import { defineVerb } from '../frame/verb.ts';
import { gatherOptions, runGather } from './run-gather.ts';

export const gatherBootstrapVerb = defineVerb({
  description: [
    'As firstlight gather, of the bootstrap machine and the masters: for a bootstrap that does not come to its end.',
    'create cluster does the same by itself when it fails.',
  ].join(' '),
  options: gatherOptions,
  examples: [
    'firstlight gather bootstrap',
    'firstlight gather bootstrap --bootstrap 10.0.0.4 --master 10.0.0.5 --master 10.0.0.6 --ssh-key ~/.ssh/id_ed25519',
  ],
  run: (invocation) => runGather(invocation, 'bootstrap'),
});
