// The first access rights: bindings of Kubernetes' own roles to the identities of the table in pki/profiles.ts.
// There is deliberately no binding that lets the controller manager approve bootstrap requests: our approver decides.
import { bootstrapperGroup } from '../../admission/bootstrap-token-secret.ts';
import { adminGroup, nodeAgentGroup, systemNamespace } from '../../contract/cluster-objects.ts';
import { machineConfigGroup, machineConfigurationObject } from '../../contract/machine-config-node.ts';
import { manifestAsset } from './manifest-asset.ts';

export const groupSubject = (name: string): object => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name });
const user = (name: string): object => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name });

export function clusterBinding(name: string, role: string, subject: object): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [subject],
  };
}

export const adminAccess = manifestAsset({
  name: 'access-admins',
  why: 'Day-to-day administration is a bound group, so that it can be taken away again.',
  inputs: {},
  objects: () => [clusterBinding(adminGroup, 'cluster-admin', groupSubject(adminGroup))],
});

/** For the agent of a machine, which brings it to the rendered config that its Node names. */
const configReader = 'firstlight:config-daemon';

export const nodeAccess = manifestAsset({
  name: 'access-nodes',
  why: 'A joining kubelet may ask for a certificate and nothing else; a joined one may renew its own, and read what its machine is to be like.',
  inputs: {},
  objects: () => [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: configReader },
      rules: [
        // By its name alone, which its Node says: machines do not list what others have.
        { apiGroups: [machineConfigGroup], resources: ['machineconfigs'], verbs: ['get'] },
        {
          apiGroups: [machineConfigurationObject.apiVersion.split('/')[0]],
          resources: ['machineconfigurations'],
          resourceNames: [machineConfigurationObject.name],
          verbs: ['get'],
        },
      ],
    },
    clusterBinding(configReader, configReader, groupSubject('system:nodes')),
    clusterBinding(`${configReader}:masters`, configReader, groupSubject(nodeAgentGroup)),
    clusterBinding('firstlight:kubelet-bootstrap', 'system:node-bootstrapper', groupSubject(bootstrapperGroup)),
    clusterBinding(
      'firstlight:node-certificate-rotation',
      'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
      groupSubject('system:nodes'),
    ),
  ],
});

export const apiserverAccess = manifestAsset({
  name: 'access-apiserver',
  why: 'Logs and exec: kubelets let kube-apiserver in by this binding instead of by an all-powerful group.',
  inputs: {},
  objects: () => [
    clusterBinding(
      'firstlight:apiserver-to-kubelet',
      'system:kubelet-api-admin',
      user('kube-apiserver-kubelet-client'),
    ),
  ],
});

/** The namespaces that every cluster has from the beginning. */
const firstNamespaces = ['default', systemNamespace, 'kube-public', 'kube-node-lease'] as const;

export const defaultAccounts = manifestAsset({
  name: 'access-default-accounts',
  why: 'A pod that needs no API gets no token for it: in these namespaces only an account of its own brings one.',
  inputs: {},
  objects: () =>
    firstNamespaces.map((namespace) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace },
      automountServiceAccountToken: false,
    })),
});
