// What a kubelet may not write in its own Node, beyond what Kubernetes' NodeRestriction refuses. Pod ranges are given
// out by the controller manager: a Node that registers with a range of its own choice can take the whole pod network,
// and with a range outside of it every controller manager ends when it starts.
import { manifestAsset } from './manifest-asset.ts';

const name = 'node-pod-ranges.firstlight.io';
const apiVersion = 'admissionregistration.k8s.io/v1';

export const nodePolicy = manifestAsset({
  name: 'policy-nodes',
  why: 'A node asks for no pod range: the controller manager gives it one, apart from those of all others.',
  inputs: {},
  objects: () => [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], resources: ['nodes'], operations: ['CREATE', 'UPDATE'] },
          ],
        },
        matchConditions: [{ name: 'by-a-kubelet', expression: "'system:nodes' in request.userInfo.groups" }],
        variables: [
          { name: 'wanted', expression: 'has(object.spec.podCIDRs) ? object.spec.podCIDRs : []' },
          {
            name: 'given',
            expression: 'oldObject != null && has(oldObject.spec.podCIDRs) ? oldObject.spec.podCIDRs : []',
          },
        ],
        validations: [
          {
            expression: 'variables.wanted == variables.given',
            message: 'a kubelet does not choose the pod ranges of its node; the controller manager gives them',
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ],
});
