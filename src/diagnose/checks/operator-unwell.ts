// An operator says that its part of the cluster does not work, and why: the last word after everything on machines.
import type { DiagnosisCheck } from '../check.ts';

export const operatorUnwell: DiagnosisCheck = {
  name: 'operator-unwell',
  why: 'Whatever the release brings is judged by its operator, which names the pod, the node and the cause.',
  looksAt: 'the ClusterOperators and the ClusterVersion, from the API',
  certainty: 'reported',
  find: ({ api }) => [
    ...(api?.operators ?? [])
      .filter(({ isAvailable, isDegraded }) => isDegraded || !isAvailable)
      .map(({ name, isAvailable, message }) => ({
        sentence: `operator ${name} is ${isAvailable ? 'degraded' : 'not available'}: ${message}`,
        seen: `conditions of ClusterOperator ${name}`,
        next: { verb: 'kubectl', rest: `describe clusteroperator ${name}` },
      })),
    ...(api?.release?.isFailing === true
      ? [
          {
            sentence: `the release is not applied: ${api.release.message}`,
            seen: 'condition Failing of ClusterVersion version',
            next: { verb: 'kubectl', rest: 'describe clusterversion version' },
          },
        ]
      : []),
  ],
};
