import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ingressNodePorts } from '../contract/ports.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { ingressOperator } from './ingress.ts';
import type { OperatorSight } from './operator.ts';

const objects = ingressOperator.manifests((name) => `image-of-${name}`).flatMap((file) => file.objects);
const kindOf = (kind: string): readonly KubernetesObject[] => objects.filter((object) => object.kind === kind);

const deployment = (status: 'True' | 'False'): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'router-default', namespace: 'openshift-ingress' },
  spec: { replicas: 2 },
  status: { updatedReplicas: 2, availableReplicas: 2, conditions: [{ type: 'Available', status }] },
});

function sight(...seen: readonly KubernetesObject[]): OperatorSight {
  return {
    version: '1.2.3',
    capabilities: ['Ingress'],
    now: new Date('2026-01-01T00:00:00Z'),
    objects: (kind) => seen.filter((object) => object.kind === kind),
  };
}

test('the ports of nodes are those that the load balancer asks, and only nodes with a pod answer', () => {
  const [service] = kindOf('Service');
  expect(service?.['spec']).toMatchObject({
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    ports: [
      { name: 'http', nodePort: ingressNodePorts.http },
      { name: 'https', nodePort: ingressNodePorts.https },
      { name: 'health', nodePort: ingressNodePorts.health },
    ],
  });
});

test('the default certificate is for every application, and Traefik finds it where the Secret is mounted', () => {
  expect(ingressOperator.certificates).toMatchObject([{ dnsNames: ['{{APPS_DOMAIN}}', '*.{{APPS_DOMAIN}}'] }]);
  const settings = kindOf('ConfigMap').find(({ metadata }) => metadata.name === 'router-default')?.['data'];
  const text = (settings as Readonly<Record<string, string>>)['tls.yaml'] ?? '';
  const folder = /--providers.file.directory=([^"]+)/.exec(JSON.stringify(objects))?.[1] ?? '';
  expect(parse(text)).toEqual({
    tls: {
      stores: { default: { defaultCertificate: { certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key` } } },
    },
  });
  // The operator writes the signer into it.
  expect(kindOf('ConfigMap').find(({ metadata }) => metadata.name === 'default-ingress-cert')).not.toHaveProperty(
    'data',
  );
});

test('an Ingress that names no class is served', () => {
  const [ingressClass] = kindOf('IngressClass');
  expect(ingressClass?.metadata.annotations).toEqual({ 'ingressclass.kubernetes.io/is-default-class': 'true' });
});

test.each([
  ['there is nothing', [], 'NotAvailable'],
  ['its pods are away', [deployment('False'), ...kindOf('IngressClass')], 'NotAvailable'],
  ['somebody removed the class', [deployment('True')], 'NoIngressClass'],
] as const)('ingress is not available when %s', (_, seen, reason) => {
  expect(ingressOperator.judge(sight(...seen)).available).toMatchObject({ isSo: false, reason });
});

test('ingress is available when its pods serve', () => {
  expect(ingressOperator.judge(sight(deployment('True'), ...kindOf('IngressClass'))).available.isSo).toBe(true);
});
