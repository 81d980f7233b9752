import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { ApiOfObjects } from '../../test/api-of-objects.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import { connectKubernetes } from '../kubernetes/client.ts';
import { keepSecrets } from './keep-secrets.ts';
import type { ServingCertificate } from './made-secrets.ts';
import { type PayloadValues, payloadValues } from './payload-values.ts';

const apiService = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.example.test' },
  spec: { group: 'example.test' },
} as const;
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'signer', namespace: 'apps' } } as const;
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'reader', namespace: 'apps', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { template: { metadata: { labels: { app: 'reader' } } } },
} as const;
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a-secret', namespace: 'apps' } } as const;

const wanted: ServingCertificate = {
  namespace: 'apps',
  name: 'router',
  dnsNames: ['*.{{APPS_DOMAIN}}', 'router.apps.svc'],
  trustedBy: [
    { kind: 'APIService', name: 'v1.example.test' },
    { kind: 'ConfigMap', namespace: 'apps', name: 'signer', key: 'ca-bundle.crt' },
  ],
  restarts: 'reader',
};
const password = { namespace: 'apps', name: 'door', username: 'firstlight' } as const;
const values = {
  ...(Object.fromEntries(Object.keys(payloadValues).map((name) => [name, ''])) as PayloadValues),
  APPS_DOMAIN: 'apps.demo.firstlight.test',
};
const kubeconfig = {
  'current-context': 'a',
  contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://api:6443' } }],
  users: [{ name: 'u', user: {} }],
};

interface Lab {
  readonly api: ApiOfObjects;
  readonly host: FakeHost;
  readonly keep: () => Promise<readonly string[]>;
}

async function lab(): Promise<Lab> {
  const api = new ApiOfObjects([secret, configMap, deployment]);
  api.put(apiService);
  api.objects.set('/api/v1/namespaces/apps/configmaps/signer', configMap);
  api.objects.set('/apis/apps/v1/namespaces/apps/deployments/reader', deployment);
  const host = fakeHost({ network: api.network });
  const client = await connectKubernetes(host, { text: JSON.stringify(kubeconfig) });
  return {
    api,
    host,
    keep: () => keepSecrets({ host, client, values }, { certificates: [wanted], passwords: [password] }),
  };
}

function certificateIn({ api }: Lab, name: string): X509Certificate {
  const data = api.find('Secret', name)?.['data'] as Readonly<Record<string, string>> | undefined;
  return new X509Certificate(Buffer.from(data?.['tls.crt'] ?? '', 'base64'));
}

const dayMs = 86_400_000;

test('the first call makes signer and certificate and tells those who must know the signer; the second does nothing', async () => {
  const cluster = await lab();
  expect(await cluster.keep()).toHaveLength(5);
  const [leaf, signer] = [certificateIn(cluster, 'router'), certificateIn(cluster, 'router-signer')];
  expect(leaf.checkIssued(signer) && leaf.verify(signer.publicKey)).toBe(true);
  expect(leaf.checkHost('shop.apps.demo.firstlight.test')).toBeDefined();
  expect(leaf.checkHost('router.apps.svc')).toBeDefined();
  expect(signer.ca).toBe(true);
  const caBundle = Buffer.from(signer.toString()).toString('base64');
  expect(cluster.api.find('APIService', 'v1.example.test')?.['spec']).toMatchObject({ caBundle });
  expect(cluster.api.find('ConfigMap', 'signer')?.['data']).toEqual({ 'ca-bundle.crt': signer.toString() });
  expect(await cluster.keep()).toEqual([]);
});

test('a password is made once, and then it is the business of its users', async () => {
  const cluster = await lab();
  await cluster.keep();
  const data = cluster.api.find('Secret', 'door')?.['data'] as Readonly<Record<string, string>> | undefined;
  const text = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString();
  expect([text('username'), text('password')]).toEqual(['firstlight', expect.stringMatching(/^\w{32}$/)]);
});

test('a certificate is renewed in time, by the same signer, and pods that read it once start anew', async () => {
  const cluster = await lab();
  await cluster.keep();
  const before = certificateIn(cluster, 'router-signer').fingerprint256;
  cluster.host.clock.advance(200 * dayMs);
  expect(await cluster.keep()).toEqual([]);
  cluster.host.clock.advance(100 * dayMs);
  expect(await cluster.keep()).toEqual([expect.stringContaining('its life has passed'), 'restarted reader']);
  expect(await cluster.keep()).toEqual([]);
  expect(certificateIn(cluster, 'router-signer').fingerprint256).toBe(before);
});

test('who trusts the signer is told again when that was lost', async () => {
  const cluster = await lab();
  await cluster.keep();
  cluster.api.put(apiService);
  expect(await cluster.keep()).toEqual(['wrote the signer into APIService v1.example.test']);
});

test('a Secret that cannot be read is made anew, and one of somebody else is left alone', async () => {
  const cluster = await lab();
  await cluster.keep();
  const path = '/api/v1/namespaces/apps/secrets/router';
  const made = cluster.api.objects.get(path) ?? secret;
  cluster.api.objects.set(path, { ...made, data: { 'tls.crt': 'bm9uZQ==', 'tls.key': '' } });
  expect(await cluster.keep()).toHaveLength(1);
  cluster.api.objects.set(path, { ...made, metadata: { name: 'router', namespace: 'apps' }, data: {} });
  expect(await cluster.keep()).toEqual([]);
});
