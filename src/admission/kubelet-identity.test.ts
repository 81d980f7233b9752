import { beforeEach, describe, expect, test } from 'vitest';
import { bootstrapKubeconfig, kubeletClientCertificate, kubeletKubeconfig } from '../contract/machine-paths.ts';
import { Crash } from '../host/fake/fake-files.ts';
import { type FakeHost, type FakeHostOptions, fakeHost } from '../host/fake/fake-host.ts';
import { seededRandom } from '../host/fake/fake-random.ts';
import type { HttpAnswer, HttpRequest } from '../host/network.ts';
import { connectKubernetes } from '../kubernetes/client.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { accessOf, parseKubeconfig } from '../kubernetes/read-kubeconfig.ts';
import { readCertificate } from '../pki/certificate.ts';
import { certify, issueSigner } from '../pki/issue.ts';
import { publicKeyDigest, readKeyPair } from '../pki/key.ts';
import { machineLeaf, signerProfiles } from '../pki/profiles.ts';
import { readSigningRequest } from '../pki/signing-request.ts';
import { readCertificateRequest, requestPem } from './certificate-request.ts';
import { type AskedIdentity, askForIdentity, hasIdentity } from './kubelet-identity.ts';

const server = 'https://api-int.demo.firstlight.test:6443';
const start = '2026-01-01T00:00:00Z';
const issuing = { random: seededRandom('signer'), now: new Date(start) };
const signer = issueSigner(signerProfiles['kubelet-signer'], issuing);
const machine = { name: 'worker-0', addresses: ['10.0.0.21'] };
const cluster = { domain: 'demo.firstlight.test', serviceAddresses: [], apiVips: [] };

/** The requests of the API, by name. */
const requests = new Map<string, KubernetesObject>();
beforeEach(() => requests.clear());

async function request({ url, method = 'GET', body }: HttpRequest): Promise<HttpAnswer> {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  const answer = (status: number, value: object): HttpAnswer => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)),
  });
  if (method === 'POST') {
    const object = JSON.parse(String(body)) as KubernetesObject;
    const user = { username: 'system:bootstrap:abc123', groups: [] };
    const stored = { ...object, spec: { ...(object['spec'] as object), ...user } };
    requests.set(object.metadata.name, stored);
    return answer(201, stored);
  }
  if (name === 'v1') return answer(200, { resources: [resource] });
  const found = requests.get(name);
  return found === undefined
    ? answer(404, { kind: 'Status', reason: 'NotFound', message: 'none' })
    : answer(200, found);
}

const resource = { kind: 'CertificateSigningRequest', name: 'certificatesigningrequests', namespaced: false };
const open = async (): Promise<never> => {
  throw new Error('nothing is watched here');
};
const network = { request, open, keepConnections: () => ({ request, open, [Symbol.dispose]: () => {} }) };

/** What the controller manager does with every approved request. */
function signAll(): void {
  for (const [name, object] of requests) {
    const { publicPem } = readSigningRequest(requestPem(readCertificateRequest(object)));
    const certificate = certify(publicPem, {
      ...issuing,
      contents: machineLeaf('kubelet-client', { cluster, machine }),
      signer,
    });
    requests.set(name, { ...object, status: { certificate: Buffer.from(certificate).toString('base64') } });
  }
}

async function machineWith(options: FakeHostOptions = {}): Promise<FakeHost> {
  const host = fakeHost({ start, network, ...options });
  if (options.disk === undefined) {
    const credential = { kind: 'token', token: 'abc123.0123456789abcdef' } as const;
    const text = kubeconfigText({ cluster: 'demo', server, caPem: 'the CA', user: 'kubelet', credential });
    await host.files.makeFolder('/etc/kubernetes');
    await host.files.write(bootstrapKubeconfig, text, { mode: 0o600 });
  }
  return host;
}

async function ask(host: FakeHost): Promise<AskedIdentity> {
  await using client = await connectKubernetes(host, { path: bootstrapKubeconfig });
  return askForIdentity(host, client, { nodeName: 'worker-0' });
}

/** What its kubelet would start with. */
async function identityOf({ files }: FakeHost): Promise<{ readonly subject: string; readonly keyDigest: string }> {
  const kubeconfig = parseKubeconfig(await files.readText(kubeletKubeconfig), '/var/lib/kubelet');
  const pem = await files.readText(await files.readLink(kubeletClientCertificate));
  const [certificatePem = '', keyPem = ''] = pem.split(/(?=-----BEGIN PRIVATE KEY)/);
  const { publicPem, subjectText } = readCertificate(certificatePem);
  expect(readKeyPair(keyPem).publicPem).toBe(publicPem);
  expect(kubeconfig.user).toEqual({
    'client-certificate': kubeletClientCertificate,
    'client-key': kubeletClientCertificate,
  });
  expect((await accessOf(files, { ...kubeconfig, user: {} })).ca).toBe('the CA');
  return { subject: subjectText, keyDigest: publicKeyDigest(publicPem) };
}

describe('the first certificate of a node', () => {
  test('is asked for once, waited for, and stored as a kubelet keeps it', async () => {
    const host = await machineWith();
    expect(await hasIdentity(host)).toBe(false);
    const { request } = await ask(host);
    expect((await ask(host)).request).toBe(request);
    expect([...requests.keys()]).toEqual([request]);
    signAll();
    expect(await ask(host)).toEqual({});
    expect(await hasIdentity(host)).toBe(true);
    expect((await identityOf(host)).subject).toContain('system:node:worker-0');
    expect(await host.files.list('/var/lib/kubelet/pki')).toEqual([
      'kubelet-client-2026-01-01-00-00-00.pem',
      'kubelet-client-current.pem',
    ]);
  });

  test('is not taken from a request that somebody else made under its name', async () => {
    const [host, other] = [await machineWith({ seed: 'one' }), await machineWith({ seed: 'other' })];
    const { request = '' } = await ask(host);
    requests.clear();
    await ask(other);
    signAll();
    const [foreign] = requests.values();
    requests.set(request, foreign as KubernetesObject);
    expect((await ask(host)).missing).toMatchObject({
      who: `a certificate of this node: the request ${request} was refused`,
    });
    expect(await hasIdentity(host)).toBe(false);
  });

  test('of an agent that is killed at any change is asked for by the same key', async () => {
    const joined = async (host: FakeHost): Promise<FakeHost> => {
      if (await hasIdentity(host)) return host;
      if ((await ask(host)).missing === undefined) return host;
      signAll();
      await ask(host);
      return host;
    };
    const whole = (await joined(await machineWith())).disk.changes;
    const before = (await machineWith()).disk.changes;
    expect(whole - before).toBeGreaterThan(4);
    for (let crashAt = before + 1; crashAt <= whole; crashAt += 1) {
      requests.clear();
      const first = await machineWith({ seed: `first ${crashAt}` });
      first.disk.crashAt = crashAt;
      await expect(joined(first)).rejects.toBeInstanceOf(Crash);
      delete first.disk.crashAt;
      const second = await joined(await machineWith({ disk: first.disk, seed: `second ${crashAt}` }));
      const { keyDigest } = await identityOf(second);
      expect([...requests.keys()]).toEqual([`kubelet-${keyDigest.slice(0, 32)}`]);
      expect(await hasIdentity(second)).toBe(true);
      expect(await second.files.list('/var/lib/kubelet/pki')).not.toContain('kubelet-client.key.tmp');
    }
  });
});
