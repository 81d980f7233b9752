// Ingress: Traefik, for the Ingress objects of Kubernetes. Every node has the ports of its Service; those where a pod
// of it runs answer, and the load balancer in front asks each whether it is one of them. Certificates come from the
// Secrets that Ingresses name; an Ingress without one is served with the default certificate, which the version
// operator makes.
import type { KubernetesObject } from '../kubernetes/object.ts';
import { ingressClassName, ingressNamespace, ingressObjects, ingressSigner, routerName } from './ingress-objects.ts';
import { judgeWorkloads, type Workload, workloadSightings } from './judge-workloads.ts';
import type { ServingCertificate } from './made-secrets.ts';
import type { Operator, OperatorHealth, OperatorSight } from './operator.ts';
import { valueOf } from './payload-values.ts';

const certificate: ServingCertificate = {
  namespace: ingressNamespace,
  name: 'router-certs-default',
  dnsNames: [valueOf('APPS_DOMAIN'), `*.${valueOf('APPS_DOMAIN')}`],
  trustedBy: [{ kind: 'ConfigMap', ...ingressSigner }],
};

const workloads: readonly Workload[] = [{ kind: 'Deployment', namespace: ingressNamespace, name: routerName }];
const ingressClassKind = { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass' } as const;

export const ingressOperator: Operator = {
  name: 'ingress',
  why: 'An application is reached from outside by a name, and not by the port of a machine.',
  level: 50,
  capability: 'Ingress',
  images: ['traefik'],
  certificates: [certificate],
  manifests: (image) => [
    { name: routerName, objects: ingressObjects({ image: image('traefik'), certificate: certificate.name }) },
  ],
  looksAt: [...workloadSightings(workloads), { ...ingressClassKind, name: ingressClassName }],
  judge,
  relatedObjects: [
    { group: '', resource: 'namespaces', name: ingressNamespace },
    { group: 'apps', resource: 'deployments', namespace: ingressNamespace, name: routerName },
    { group: '', resource: 'services', namespace: ingressNamespace, name: routerName },
    { group: '', resource: 'secrets', namespace: ingressNamespace, name: certificate.name },
    { group: 'networking.k8s.io', resource: 'ingressclasses', name: ingressClassName },
  ],
};

function judge(seen: OperatorSight): OperatorHealth {
  const versions = { operator: seen.version };
  const health = judgeWorkloads(seen, workloads);
  const isIt = ({ metadata }: KubernetesObject): boolean => metadata.name === ingressClassName;
  if (!health.available.isSo || seen.objects('IngressClass').some(isIt)) return { ...health, versions };
  const message = `there is no IngressClass ${ingressClassName}`;
  return { ...health, available: { isSo: false, reason: 'NoIngressClass', message }, versions };
}
