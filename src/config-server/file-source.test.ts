import { describe, expect, test } from 'vitest';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { latestSpec } from '../ignition/spec-version.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { apiVersion } from '../machine-config/machine-config.ts';
import { ignitionUnits } from '../machine-software/ignition-unit.ts';
import { proxyDropins } from '../machine-software/proxy.ts';
import { issueSigner } from '../pki/issue.ts';
import { isServed } from './config-source.ts';
import { openFileSource } from './file-source.ts';

const options = {
  renderedFolder: '/rendered',
  poolTokensPath: '/auth/pool-tokens.json',
  kubeconfigPath: '/auth/kubeconfig',
  proxyCredentialsPath: '/auth/proxy-credentials.env',
  pullSecretPath: '/auth/pull-secret.json',
  pkiFolder: '/tls',
};

function pool(config: string): string {
  return JSON.stringify({
    apiVersion,
    kind: 'MachineConfigPool',
    metadata: { name: 'master' },
    spec: {},
    status: { configuration: { name: config } },
  });
}

function machineConfig(name: string, config: Partial<IgnitionConfig> = {}): string {
  return JSON.stringify({
    apiVersion,
    kind: 'MachineConfig',
    metadata: { name },
    spec: { config: { ignition: { version: latestSpec }, ...config } },
  });
}

async function setUp() {
  const host = fakeHost();
  for (const folder of ['/rendered/machine-pools', '/rendered/machine-configs', '/auth', '/tls']) {
    await host.files.makeFolder(folder);
  }
  const problems: string[] = [];
  const source = await openFileSource(host, { ...options, onProblem: (problem) => problems.push(problem) });
  return { host, source, problems, master: () => source.current().pools.get('master') };
}

async function writeAll(host: FakeHost): Promise<void> {
  const random = { random: host.random, now: host.clock.now() };
  const signer = issueSigner({ subject: { commonName: 'x', organizations: [] }, validityDays: 10 }, random);
  await host.files.write('/tls/control-plane-client-signer.crt', signer.certificatePem);
  const kubeconfig = { cluster: 'demo', server: 'https://localhost:6443', caPem: 'CA', user: 'kubelet' };
  await host.files.write('/auth/kubeconfig', kubeconfigText(kubeconfig));
  await host.files.write('/auth/pool-tokens.json', JSON.stringify({ master: [] }));
  await host.files.write('/rendered/machine-pools/master.yaml', pool('rendered-master-1'));
  await host.files.write('/rendered/machine-configs/rendered-master-1.yaml', machineConfig('rendered-master-1'));
}

/** Longer than the regular look takes to come round. */
async function lookedAgain(host: FakeHost): Promise<void> {
  await host.clock.sleep(11_000);
}

describe('configurations from files', () => {
  test('are served as soon as all of them are there; until then it is said what is missing', async () => {
    const { host, source, master, problems } = await setUp();
    expect(source.current().pools.size).toBe(0);
    expect(problems).toContain('/auth/kubeconfig is not there yet');
    await host.files.write('/rendered/machine-pools/master.yaml', pool('rendered-master-1'));
    await lookedAgain(host);
    expect(master()).toMatchObject({ status: 'waiting', missing: expect.stringContaining('rendered-master-1.yaml') });
    await writeAll(host);
    await lookedAgain(host);
    expect(master()).toMatchObject({ pool: 'master', machineConfig: { metadata: { name: 'rendered-master-1' } } });
    expect(source.current().problems).toEqual([]);
    await source[Symbol.asyncDispose]();
  });

  test('that are half written do not take away what was served; what is whole again is taken', async () => {
    const { host, source, master, problems } = await setUp();
    await writeAll(host);
    await lookedAgain(host);
    const before = master();
    expect(isServed(before)).toBe(true);
    const path = '/rendered/machine-configs/rendered-master-1.yaml';
    await host.files.write(path, machineConfig('rendered-master-1').slice(0, 40));
    await host.files.write('/auth/pool-tokens.json', '{"master": [{"sha');
    await lookedAgain(host);
    expect(master()).toEqual(before);
    expect(source.current().poolTokens).toEqual({ master: [] });
    expect(problems.filter((problem) => problem.includes('cannot be used'))).toHaveLength(2);
    await host.files.write('/rendered/machine-configs/rendered-master-2.yaml', machineConfig('rendered-master-2'));
    await host.files.write('/rendered/machine-pools/master.yaml', pool('rendered-master-2'));
    await lookedAgain(host);
    expect(master()).toMatchObject({ machineConfig: { metadata: { name: 'rendered-master-2' } } });
    await source[Symbol.asyncDispose]();
  });

  test('for machines that must pass a proxy wait for what it asks for', async () => {
    const { host, source, master } = await setUp();
    await writeAll(host);
    const proxy = { noProxy: [], hasCredentials: true };
    const units = ignitionUnits([], proxyDropins(proxy, { units: ['kubelet.service'], isBootstrap: false }));
    const config = machineConfig('rendered-master-1', { systemd: { units } });
    await host.files.write('/rendered/machine-configs/rendered-master-1.yaml', config);
    await lookedAgain(host);
    expect(master()).toMatchObject({ missing: '/auth/proxy-credentials.env is not there yet' });
    await host.files.write('/auth/proxy-credentials.env', 'HTTP_PROXY="http://u:p@proxy.test"\n');
    await lookedAgain(host);
    expect(master()).toMatchObject({ proxyCredentials: 'HTTP_PROXY="http://u:p@proxy.test"\n' });
    await source[Symbol.asyncDispose]();
  });

  test('come with credentials for registries where there are any, the last good ones, which no problem repeats', async () => {
    const { host, source, master, problems } = await setUp();
    await writeAll(host);
    await lookedAgain(host);
    expect(master()).not.toHaveProperty('pullSecret');
    expect(source.current().problems).toEqual([]);
    const secret = '{"auths":{"r.test":{"auth":"dTpvcGVuc2VzYW1l"}}}';
    await host.files.write('/auth/pull-secret.json', secret);
    await lookedAgain(host);
    expect(master()).toMatchObject({ pullSecret: secret });
    await host.files.write('/auth/pull-secret.json', secret.slice(3));
    await lookedAgain(host);
    expect(master()).toMatchObject({ pullSecret: secret });
    expect(problems.at(-1)).toBe('/auth/pull-secret.json cannot be used: not JSON');
    await source[Symbol.asyncDispose]();
  });

  test('that are gone are no longer served', async () => {
    const { host, source, master } = await setUp();
    await writeAll(host);
    await lookedAgain(host);
    await host.files.remove('/rendered/machine-configs/rendered-master-1.yaml');
    await lookedAgain(host);
    expect(master()).toMatchObject({ status: 'waiting' });
    await source[Symbol.asyncDispose]();
  });

  test.each([
    ['a pool that names a path', pool('../../../etc/passwd')],
    ['a pool without a config', pool('')],
    ['something that is no pool', '[]'],
    ['half a pool', pool('rendered-master-1').slice(0, 30)],
  ])('%s waits instead of being followed', async (_what, text) => {
    const { host, source, master } = await setUp();
    await writeAll(host);
    await host.files.write('/rendered/machine-pools/master.yaml', text);
    await lookedAgain(host);
    expect(master()).toMatchObject({ status: 'waiting' });
    await source[Symbol.asyncDispose]();
  });
});
