// What machines may not write through the API, beyond what Kubernetes' NodeRestriction refuses. The API server itself
// refuses it, so that it costs neither etcd nor anybody who watches.
import { bootstrapperGroup } from '../../admission/bootstrap-token-secret.ts';
import { requestSizeMax } from '../../admission/triage-requests.ts';
import { admissionPolicy } from './admission-policy.ts';
import { manifestAsset } from './manifest-asset.ts';

const base64Length = Math.ceil(requestSizeMax / 3) * 4;

interface Policy {
  readonly name: string;
  readonly apiGroup: string;
  readonly resource: string;
  readonly operations: readonly string[];
  readonly conditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

const policies: readonly Policy[] = [
  // A Node that registers with a range of its own choice could take the whole pod network; with a range outside of it,
  // every controller manager ends when it starts.
  {
    name: 'node-pod-ranges.firstlight.io',
    apiGroup: '',
    resource: 'nodes',
    operations: ['CREATE', 'UPDATE'],
    conditions: [{ name: 'by-a-kubelet', expression: "'system:nodes' in request.userInfo.groups" }],
    variables: [
      { name: 'wanted', expression: 'has(object.spec.podCIDRs) ? object.spec.podCIDRs : []' },
      { name: 'given', expression: 'oldObject != null && has(oldObject.spec.podCIDRs) ? oldObject.spec.podCIDRs : []' },
    ],
    validations: [
      {
        expression: 'variables.wanted == variables.given',
        message: 'a kubelet does not choose the pod ranges of its node; the controller manager gives them',
      },
    ],
  },
  // Every machine that may join, and everybody who has its token, may create these; each would be kept for a day.
  {
    name: 'certificate-requests.firstlight.io',
    apiGroup: 'certificates.k8s.io',
    resource: 'certificatesigningrequests',
    operations: ['CREATE'],
    variables: [
      {
        name: 'isMachine',
        expression: `request.userInfo.groups.exists(group, group in ['system:nodes', '${bootstrapperGroup}'])`,
      },
    ],
    validations: [
      {
        expression: `size(object.spec.request) <= ${base64Length}`,
        message: `a certificate request has at most ${requestSizeMax} bytes`,
      },
      {
        expression: '!variables.isMachine || !has(object.metadata.finalizers) || size(object.metadata.finalizers) == 0',
        message: 'a machine cannot keep its certificate request from being removed',
      },
      {
        expression: '!variables.isMachine || !has(object.metadata.labels) || size(object.metadata.labels) <= 16',
        message: 'a certificate request of a machine has at most 16 labels',
      },
    ],
  },
];

export const nodePolicy = manifestAsset({
  name: 'policy-nodes',
  why: 'A machine chooses no pod range, and cannot fill the API with large certificate requests.',
  inputs: {},
  objects: () => policies.flatMap(policyObjects),
});

function policyObjects(policy: Policy): readonly object[] {
  const { name, apiGroup, resource, operations, conditions, variables, validations } = policy;
  const rule = { apiGroups: [apiGroup], apiVersions: ['v1'], resources: [resource], operations };
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [rule] },
    ...(conditions === undefined ? {} : { matchConditions: conditions }),
    ...(variables === undefined ? {} : { variables }),
    validations,
  };
  return admissionPolicy(name, spec, ['Deny']);
}
