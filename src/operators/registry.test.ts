import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { CapabilityName } from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { OperatorSight } from './operator.ts';
import { registryOperator } from './registry.ts';

const objects = registryOperator.manifests((name) => `image-of-${name}`).flatMap((file) => file.objects);
const settings = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'registry');
const texts = settings?.['data'] as Readonly<Record<string, string>> | undefined;
const settingsOf = (server: string): unknown => parse(texts?.[`${server}.yaml`] ?? '');

const deployment: KubernetesObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'registry', namespace: 'openshift-image-registry' },
  spec: { replicas: 1 },
  status: { updatedReplicas: 1, availableReplicas: 1, conditions: [{ type: 'Available', status: 'True' }] },
};

function sight(capabilities: readonly CapabilityName[], ...seen: readonly KubernetesObject[]): OperatorSight {
  return {
    version: '1.2.3',
    capabilities,
    now: new Date('2026-01-01T00:00:00Z'),
    objects: (kind) => seen.filter((object) => object.kind === kind),
  };
}

test('who needs no password gets images and leaves none, and who leaves images needs the password', () => {
  expect(settingsOf('pull')).toMatchObject({ storage: { maintenance: { readonly: { enabled: true } } } });
  expect(settingsOf('pull')).not.toHaveProperty('auth');
  expect(settingsOf('push')).toMatchObject({ auth: { htpasswd: {} } });
  for (const server of ['pull', 'push']) expect(settingsOf(server)).toMatchObject({ http: { tls: {} } });
});

test('machines may read whom to believe, and nothing else of the registry', () => {
  const [role] = objects.filter(({ kind }) => kind === 'Role');
  expect(role?.['rules']).toEqual([
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['registry-trust'], verbs: ['get'] },
  ]);
});

test('its certificate has the name in the names of images, and the address by which the host comes', () => {
  expect(registryOperator.certificates).toMatchObject([
    { dnsNames: expect.arrayContaining(['registry.{{APPS_DOMAIN}}']), ipAddresses: ['127.0.0.1'] },
  ]);
});

test.each([
  ['everything is there', sight(['Storage', 'Registry'], deployment), true, 'AsExpected'],
  ['its pod is away', sight(['Storage', 'Registry']), false, 'NotAvailable'],
  ['it can get no volume', sight(['Registry']), false, 'NeedsStorage'],
] as const)('the registry when %s', (_, seen, isSo, reason) => {
  expect(registryOperator.judge(seen).available).toMatchObject(isSo ? { isSo } : { isSo, reason });
});
