// The kubelet cannot start a container of a system pod, and says why.
import type { DiagnosisCheck } from '../check.ts';

/** Reasons that every container has while it starts. */
const normal = new Set(['ContainerCreating', 'PodInitializing']);

export const containerWaits: DiagnosisCheck = {
  name: 'container-waits',
  why: 'The kubelet says why it cannot start a container.',
  looksAt: 'waiting containers of the system’s pods, from the API',
  certainty: 'reported',
  find: ({ api }) =>
    (api?.waiting ?? [])
      .filter(({ reason }) => !normal.has(reason))
      .map(({ pod, node, reason, message }) => ({
        machine: node,
        sentence: `${pod} does not start on ${node}: ${message === '' ? reason : message}`,
        seen: `the kubelet of ${node} says ${reason}`,
        next: { verb: 'kubectl', rest: `describe pod -n kube-system ${pod}` },
      })),
};
