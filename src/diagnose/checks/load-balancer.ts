// The load balancer of the cluster does not run.
import type { DiagnosisCheck } from '../check.ts';

export const loadBalancer: DiagnosisCheck = {
  name: 'load-balancer',
  why: 'Every machine reaches the API and its configuration through it.',
  looksAt: 'the process of the load balancer on this host',
  certainty: 'measured',
  find: ({ isBalancerRunning }) =>
    isBalancerRunning
      ? []
      : [
          {
            sentence: 'the load balancer of this cluster does not run',
            seen: 'no haproxy with its configuration is on this host',
            next: { verb: 'machine start', rest: '--all' },
          },
        ],
};
