// A systemd unit of a machine has failed or is restarted again and again.
import type { DiagnosisCheck } from '../check.ts';

/** A few failures are normal while what the unit needs is being made. */
const someRestarts = 5;

export const unitFails: DiagnosisCheck = {
  name: 'unit-fails',
  why: 'containerd, kubelet and agent carry everything else on a machine.',
  looksAt: 'state and restarts of the units of a node, and their last words',
  certainty: 'reported',
  find: ({ machines }) =>
    machines.flatMap(({ name, inside }) =>
      (inside?.units ?? [])
        .filter(({ active, restarts }) => active === 'failed' || (active === 'activating' && restarts >= someRestarts))
        .map(({ name: unit, restarts, lastWords }) => ({
          machine: name,
          sentence: `${unit} does not run on ${name}${lastWords === '' ? '' : `: ${lastWords}`}`,
          seen: `started ${restarts + 1} times`,
          next: { verb: 'machine logs', rest: `${name} --unit ${unit}` },
        })),
    ),
};
