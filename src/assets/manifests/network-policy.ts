// The answer to a NetworkPolicy. The network of the cluster is a bridge and plain routes and enforces none, so whoever
// writes one is told at once. A policy of the API, because only the API sees everybody who writes.
import { installConfig } from '../install-config.ts';
import { admissionPolicy } from './admission-policy.ts';
import { manifestAsset } from './manifest-asset.ts';

const name = 'network-policy-has-no-effect.firstlight.io';

const message =
  'the network of this cluster does not enforce NetworkPolicies: every pod still reaches every pod, whatever this object ' +
  'says. Keep apart by other means what must not meet (another cluster, TLS with client certificates), or install a ' +
  'network that enforces them and delete this policy';

export const networkPolicyAnswer = manifestAsset({
  name: 'network-policy-answer',
  why: 'A rule that is silently ignored is worse than none: people trust in it.',
  inputs: { installConfig },
  objects: ({ installConfig: { security } }) => {
    if (security.networkPolicy === 'ignore') return [];
    return admissionPolicy(name, policy, security.networkPolicy === 'refuse' ? ['Deny'] : ['Warn', 'Audit']);
  },
});

const policy = {
  failurePolicy: 'Fail',
  matchConstraints: {
    resourceRules: [
      {
        apiGroups: ['networking.k8s.io'],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['networkpolicies'],
      },
    ],
  },
  // Labels and finalizers of an existing one may change: otherwise it could not be deleted.
  validations: [{ expression: 'oldObject != null && object.spec == oldObject.spec', message, reason: 'Forbidden' }],
} as const;
