// A rule that kube-apiserver applies to every write: the policy, and the binding that puts it in force.

const apiVersion = 'admissionregistration.k8s.io/v1';

export function admissionPolicy(
  name: string,
  spec: object,
  validationActions: readonly ('Deny' | 'Warn' | 'Audit')[],
): readonly object[] {
  return [
    { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions },
    },
  ];
}
