import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import type { BootkubeContext } from '../context.ts';
import { authentication } from './04-authentication.ts';

const render = '/render';
const output = `${render}/04-authentication/authentication.yaml`;
const issuer = {
  issuer: { url: 'https://login.example.test', audiences: ['kubernetes'] },
  claimMappings: { username: { claim: 'sub', prefix: 'oidc:' } },
};

async function machine(settings: object): Promise<FakeHost> {
  const host = fakeHost();
  await host.files.makeFolder(`${render}/01-manifests`);
  const spec = {
    apiServerInternalURL: 'https://api-int.demo.example.test:6443',
    clusterDNSIP: '172.30.0.10',
    images: { pause: 'pause' },
    network: { clusterNetworks: ['10.128.0.0/14'], machineNetworks: ['10.0.0.0/16'] },
    ...settings,
  };
  const object = {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'ControllerConfig',
    metadata: { name: 'x' },
    spec,
  };
  const lines = Object.entries(object).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  await host.files.write(`${render}/01-manifests/controller-config.yaml`, `${lines.join('\n')}\n`);
  return host;
}

const own = `r.test/firstlight@sha256:${'a'.repeat(64)}`;
const images = { FIRSTLIGHT_IMAGE: own, AUTHENTICATION_OPERATOR_IMAGE: own };

const contextOf = (host: FakeHost): BootkubeContext =>
  ({ host, emit: () => {}, images, folders: { assets: '/', render, releaseFile: '/' } }) as unknown as BootkubeContext;

const tools = { signal: new AbortController().signal, report: () => {} };

async function run(host: FakeHost): Promise<unknown> {
  await authentication.run(contextOf(host), tools, undefined);
  return parse(await host.files.readText(output));
}

/** What the stage's own check says about a text that somebody put in the place of its output. */
async function judged(change: (text: string) => string): Promise<string | undefined> {
  const host = await machine({ authentication: { jwt: [issuer] } });
  await run(host);
  await host.files.write(output, change(await host.files.readText(output)));
  return authentication.verify[0]?.run(contextOf(host), {});
}

test('renders the issuers of the ControllerConfig, from which masters get the same', async () => {
  expect(await run(await machine({ authentication: { jwt: [issuer] } }))).toMatchObject({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [issuer],
  });
});

test('without issuers people come with certificates, and strangers get to know health alone', async () => {
  expect(await run(await machine({}))).toEqual({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }, { path: '/healthz' }] },
  });
});

test.each([
  ['that strangers may ask for more', (text: string) => text.replace('/livez', '/api'), 'anonymous.conditions.0.path'],
  ['an issuer without TLS', (text: string) => text.replace('https://login', 'http://login'), 'jwt.0.issuer.url'],
  [
    'an authority that is no certificate',
    (text: string) => text.replace('      audiences:', '      certificateAuthority: x\n      audiences:'),
    'no certificate',
  ],
  [
    'an issuer that may name nodes',
    (text: string) => text.replace('!user.username.startsWith', 'user.username.startsWith'),
    'names that begin with system:',
  ],
  ['a version that no API server reads', (text: string) => text.replace('k8s.io/v1', 'k8s.io/v0'), 'apiVersion'],
])('its check refuses %s', async (_what, change, words) => {
  expect(await judged((text) => text)).toBeUndefined();
  expect(await judged(change)).toContain(words);
});

test('a ControllerConfig whose issuer cannot be read fails the stage and names the place', async () => {
  const host = await machine({ authentication: { jwt: [{ issuer: { url: 'https://x.test' } }] } });
  await expect(run(host)).rejects.toMatchObject({ code: 'MACHINECONFIG_UNREADABLE' });
});
