// Registry: CNCF's distribution, for images that machines of the cluster pull and that people push. Everybody who
// reaches it may pull; to push, one needs the password that the version operator makes. Its images are in a volume of
// the default StorageClass, so it needs Storage. Agents tell the containerd of their machine whom to believe.
import { registryNamespace, registryPassword, registryTrust, registryTrustKeys } from '../contract/cluster-objects.ts';
import { judgeWorkloads, type Workload, workloadSightings } from './judge-workloads.ts';
import type { MadePassword, ServingCertificate } from './made-secrets.ts';
import type { Operator, OperatorHealth, OperatorSight } from './operator.ts';
import { valueOf } from './payload-values.ts';
import { registryName, registryObjects, registryVolume } from './registry-objects.ts';

const namespace = registryNamespace;

const certificate: ServingCertificate = {
  namespace,
  name: 'registry-tls',
  dnsNames: [
    `registry.${valueOf('APPS_DOMAIN')}`,
    `${registryName}.${namespace}.svc`,
    `${registryName}.${namespace}.svc.cluster.local`,
    'localhost',
  ],
  // The host of a local cluster reaches it by its loopback.
  ipAddresses: ['127.0.0.1'],
  trustedBy: [{ kind: 'ConfigMap', namespace, name: registryTrust.name, key: registryTrustKeys.authority }],
  restarts: registryName,
};

const password: MadePassword = { namespace, name: registryPassword.name, username: 'firstlight' };

const workloads: readonly Workload[] = [{ kind: 'Deployment', namespace, name: registryName }];

export const registryOperator: Operator = {
  name: 'registry',
  why: 'Who builds an image wants to run it here, and a cluster without the Internet needs a place to pull from.',
  level: 50,
  capability: 'Registry',
  images: ['registry'],
  certificates: [certificate],
  passwords: [password],
  manifests: (image) => [
    {
      name: registryName,
      objects: registryObjects({ image: image('registry'), certificate: certificate.name, password: password.name }),
    },
  ],
  looksAt: workloadSightings(workloads),
  judge,
  relatedObjects: [
    { group: '', resource: 'namespaces', name: namespace },
    { group: 'apps', resource: 'deployments', namespace, name: registryName },
    { group: '', resource: 'services', namespace, name: registryName },
    { group: '', resource: 'persistentvolumeclaims', namespace, name: registryVolume },
    { group: '', resource: 'configmaps', namespace, name: registryTrust.name },
  ],
};

function judge(seen: OperatorSight): OperatorHealth {
  const versions = { operator: seen.version };
  const health = judgeWorkloads(seen, workloads);
  if (health.available.isSo || seen.capabilities.includes('Storage')) return { ...health, versions };
  const reason = 'NeedsStorage';
  const message = 'the registry keeps its images in a volume, and the capability Storage is off';
  return { ...health, available: { isSo: false, reason, message }, versions };
}
