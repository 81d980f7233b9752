import { expect, test } from 'vitest';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { metricsOperator } from './metrics.ts';
import type { OperatorSight } from './operator.ts';

const objects = metricsOperator.manifests((name) => `image-of-${name}`).flatMap((file) => file.objects);
const text = JSON.stringify(objects);

const deployment: KubernetesObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'metrics-server', namespace: 'kube-system' },
  spec: { replicas: 1 },
  status: { updatedReplicas: 1, availableReplicas: 1, conditions: [{ type: 'Available', status: 'True' }] },
};

const apiService = (conditions: readonly object[]): KubernetesObject => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1beta1.metrics.k8s.io' },
  status: { conditions },
});

function sight(...seen: readonly KubernetesObject[]): OperatorSight {
  return {
    version: '1.2.3',
    capabilities: ['Metrics'],
    now: new Date('2026-01-01T00:00:00Z'),
    objects: (kind) => seen.filter((object) => object.kind === kind),
  };
}

test('nobody skips a check of a certificate', () => {
  expect(text).toContain('--kubelet-certificate-authority=');
  expect(text).not.toMatch(/insecure/i);
  const service = objects.find(({ kind }) => kind === 'APIService');
  // The operator writes it; a manifest with one would take it back at every pass.
  expect(service?.['spec']).not.toHaveProperty('caBundle');
  expect(metricsOperator.certificates?.[0]).toMatchObject({
    dnsNames: ['metrics-server.kube-system.svc', 'metrics-server.kube-system.svc.cluster.local'],
    trustedBy: [{ kind: 'APIService', name: service?.metadata.name }],
  });
});

test.each([
  ['there is nothing', [], 'NotAvailable'],
  ['its pod runs and nobody serves it', [deployment], 'NotServed'],
  ['kube-apiserver has not looked yet', [deployment, apiService([])], 'NotServed'],
  [
    'kube-apiserver does not believe it',
    [deployment, apiService([{ type: 'Available', status: 'False', message: 'x509: unknown authority' }])],
    'NotServed',
  ],
] as const)('metrics are not available when %s', (_, seen, reason) => {
  expect(metricsOperator.judge(sight(...seen)).available).toMatchObject({ isSo: false, reason });
});

test('the cause of kube-apiserver is in the words', () => {
  const refused = apiService([{ type: 'Available', status: 'False', message: 'x509: unknown authority' }]);
  expect(metricsOperator.judge(sight(deployment, refused)).available.message).toContain('x509: unknown authority');
});

test('metrics are available when kube-apiserver serves them', () => {
  const served = apiService([{ type: 'Available', status: 'True' }]);
  expect(metricsOperator.judge(sight(deployment, served)).available.isSo).toBe(true);
});
