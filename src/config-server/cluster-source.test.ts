import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { hardenedSettings } from '../contract/security-settings.ts';
import { realHost } from '../host/real/real-host.ts';
import { connectKubernetes } from '../kubernetes/client.ts';
import { apiVersion } from '../machine-config/machine-config.ts';
import { controllerConfigManifest } from '../machine-config/manifests.ts';
import { issueSigner } from '../pki/issue.ts';
import { trustBundles } from '../pki/trust-bundles.ts';
import { openClusterSource } from './cluster-source.ts';

const host = realHost();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const facts = {
  apiServerUrl: 'https://api-int.demo.firstlight.test:6443',
  clusterDns: ['172.30.0.10'],
  clusterDomain: 'cluster.local',
  clusterNetworks: ['10.128.0.0/14'],
  machineNetworks: ['10.99.0.0/24'],
  pauseImage: 'registry.test/pause:1',
  registries: [],
  kubeletEnvironment: {},
  mastersSchedulable: false,
  security: hardenedSettings,
};

/** An API server of a few lines over real connections: one ControllerConfig, nothing else, watches that stay silent. */
async function connectToApi() {
  const machineKinds = ['MachineConfig', 'MachineConfigPool', 'ControllerConfig'];
  const resource = (kind: string) => ({ name: `${kind.toLowerCase()}s`, kind, namespaced: kind === 'Secret' });
  const answers: Readonly<Record<string, object>> = {
    '/api/v1': { resources: [resource('Secret')] },
    [`/apis/${apiVersion}`]: { resources: machineKinds.map((kind) => resource(kind)) },
    [`/apis/${apiVersion}/controllerconfigs`]: {
      metadata: { resourceVersion: '1' },
      items: [controllerConfigManifest(facts)],
    },
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://api');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (url.searchParams.get('watch') === 'true') response.flushHeaders();
    else response.end(JSON.stringify(answers[url.pathname] ?? { metadata: { resourceVersion: '1' }, items: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: {} }],
    'current-context': 'c',
  });
  const client = await connectKubernetes(host, { text });
  closers.push(async () => {
    await client[Symbol.asyncDispose]();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return client;
}

test('a master hands on the credentials for registries of its own kubelet, the last good ones, and says none of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-cluster-source-'));
  closers.push(async () => rmSync(folder, { recursive: true }));
  const issuing = { random: host.random, now: host.clock.now() };
  for (const name of ['apiserver-ca', 'kubelet-client-ca'] as const) {
    for (const signer of trustBundles[name].signers) {
      const subject = { commonName: signer, organizations: [] };
      writeFileSync(join(folder, `${signer}.crt`), issueSigner({ subject, validityDays: 10 }, issuing).certificatePem);
    }
  }
  const pullSecretPath = join(folder, 'config.json');
  const problems: string[] = [];
  const source = await openClusterSource(host, {
    client: await connectToApi(),
    pkiFolder: folder,
    proxyCredentialsPath: join(folder, 'proxy-credentials.env'),
    pullSecretPath,
    generatedBy: 'a test',
    needsPoolTokens: false,
    onProblem: (problem) => problems.push(problem),
  });
  closers.push(async () => source[Symbol.asyncDispose]());
  const worker = () => source.current().pools.get('worker');
  await vi.waitFor(() => expect(worker()).toMatchObject({ pool: 'worker', machineConfig: {} }), 5_000);
  expect(worker()).not.toHaveProperty('pullSecret');

  const secret = '{"auths":{"r.test":{"auth":"dTpvcGVuc2VzYW1l"}}}';
  writeFileSync(pullSecretPath, secret);
  await vi.waitFor(() => expect(worker()).toMatchObject({ pullSecret: secret }), 5_000);
  expect(JSON.stringify(worker(), (key, value: unknown) => (key === 'pullSecret' ? '' : value))).not.toContain('auths');

  writeFileSync(pullSecretPath, secret.slice(3));
  await vi.waitFor(() => expect(problems).toContain(`${pullSecretPath} cannot be used: not JSON`), 5_000);
  expect(worker()).toMatchObject({ pullSecret: secret });
  expect(problems.join('\n')).not.toContain('dTpvcGVuc2VzYW1l');
});
