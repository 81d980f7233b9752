// A node cannot be drained, because a pod on it may not be evicted.
import type { DiagnosisCheck } from '../check.ts';

export const drainBlocked: DiagnosisCheck = {
  name: 'drain-blocked',
  why: 'A disruption budget is respected however long it takes, so one that allows no eviction stops a roll-out.',
  looksAt: 'how far the drain of each node is, from the API',
  certainty: 'reported',
  find: ({ api }) =>
    (api?.pools ?? [])
      .flatMap(({ nodes }) => nodes)
      .flatMap(({ name: node, drain }) =>
        (drain?.blocked ?? []).map(({ pod, budget, reason }) => ({
          machine: node,
          sentence:
            budget === undefined
              ? `${node} cannot be drained: pod ${pod} cannot be evicted: ${reason}`
              : `${node} cannot be drained: the budget ${budget} forbids to evict pod ${pod}`,
          seen: `${reason}; the drain began at ${drain?.since}, and ${drain?.leftCount} pods are left`,
          next: { verb: 'kubectl', rest: describe(budget === undefined ? 'pod' : 'pdb', budget ?? pod) },
        })),
      ),
};

/** `namespace/name` as kubectl wants it. */
function describe(kind: string, object: string): string {
  const [namespace = '', name = ''] = object.split('/');
  return name === '' ? `describe ${kind} ${namespace}` : `describe ${kind} -n ${namespace} ${name}`;
}
