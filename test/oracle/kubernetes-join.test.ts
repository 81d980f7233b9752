// Who may join, against the real kube-apiserver and kube-controller-manager: requests made by openssl with the token's own
// identity, decided by our loop, signed by the real signer. The loop has the rights that the shipped manifests give.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdmitEvent, admitNodes } from '../../src/admission/admit-nodes.ts';
import { findBootstrapToken, issueBootstrapToken, recordKeysHeld } from '../../src/admission/bootstrap-token-secret.ts';
import { kubeletClientSigner, kubeletServingSigner } from '../../src/admission/certificate-request.ts';
import { askForIdentity } from '../../src/admission/kubelet-identity.ts';
import { nodeAccess } from '../../src/assets/manifests/access.ts';
import { agentAccess } from '../../src/assets/manifests/agent-access.ts';
import type { Inventory } from '../../src/contract/inventory.ts';
import type { FirstlightError } from '../../src/errors/firstlight-error.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { readCertificate } from '../../src/pki/certificate.ts';
import { issueLeaf, type LeafContents } from '../../src/pki/issue.ts';
import { machineLeaf, type SignerName } from '../../src/pki/profiles.ts';
import { testMachine } from './agent-machine.ts';
import { type ControlPlaneProcesses, startControlPlane } from './control-plane-processes.ts';
import { judge } from './programs.ts';

const host = realHost();
const stop = new AbortController();
const events: AdmitEvent[] = [];
const clients: KubernetesClient[] = [];
const inventory: Inventory = {
  isClosed: true,
  machines: [
    { name: 'master-0', role: 'master', addresses: ['192.0.2.11'] },
    { name: 'master-1', role: 'master', addresses: ['192.0.2.12'] },
    { name: 'worker-0', role: 'worker', addresses: ['192.0.2.21'] },
    { name: 'worker-1', role: 'worker', addresses: ['192.0.2.22'] },
    { name: 'worker-2', role: 'worker', addresses: ['192.0.2.23'] },
    // worker-1 or worker-2 is promised to one of the twins, whichever is first.
    { name: 'worker-3', role: 'worker', addresses: ['192.0.2.24'] },
  ],
};
let plane: ControlPlaneProcesses;
let admin: KubernetesClient;
let admitting: Promise<unknown>;

beforeAll(async () => {
  plane = await startControlPlane(['etcd', 'kube-apiserver', 'kube-controller-manager']);
  admin = await client({ path: plane.kubeconfig });
  const shipped = await Promise.all([
    agentAccess.generate({ inventory }, undefined as never),
    nodeAccess.generate({}, undefined as never),
  ]);
  for (const { content } of shipped.flat()) {
    writeFileSync(join(plane.folder, 'access.yaml'), content);
    const { code, output } = plane.kubectl('apply', '-f', join(plane.folder, 'access.yaml'));
    if (code !== 0) throw new Error(output);
  }
  await admin.create(malloryMayAsk);
  const agent = await clientWith(machineLeaf('node-agent', plane.facts), 'control-plane-client-signer');
  admitting = admitNodes({
    client: agent,
    host,
    inventory: async () => inventory,
    virtualAddresses: ['192.0.2.5'],
    machineNetworks: ['192.0.2.0/24'],
    signal: stop.signal,
    mayAct: () => true,
    onEvent: (event) => events.push(event),
  }).catch((error: unknown) => error);
}, 120_000);

afterAll(async () => {
  stop.abort(new Error('the suite is over'));
  await admitting;
  for (const each of clients) await each[Symbol.asyncDispose]();
  await plane.stop();
});

async function client(source: Parameters<typeof connectKubernetes>[1]): Promise<KubernetesClient> {
  const made = await connectKubernetes(host, source);
  clients.push(made);
  return made;
}

type Credential = NonNullable<Parameters<typeof kubeconfigText>[0]['credential']>;

function kubeconfigOf(credential: Credential): string {
  const caPem = plane.signer('apiserver-serving-signer').certificatePem;
  return kubeconfigText({ cluster: 'demo', server: plane.server, caPem, user: 'u', credential });
}

async function clientWith(contents: LeafContents, signer: SignerName): Promise<KubernetesClient> {
  const leaf = issueLeaf(contents, plane.signer(signer), { random: host.random, now: new Date() });
  const { certificatePem } = leaf;
  return client({ text: kubeconfigOf({ kind: 'certificate', certificatePem, keyPem: leaf.key.privatePem.reveal() }) });
}

const malloryMayAsk: KubernetesObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'mallory' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
};

/** Made by openssl, as a stranger would. */
function opensslRequest(subject: string, names?: string): string {
  const key = join(plane.folder, 'stranger.key');
  const more = names === undefined ? [] : ['-addext', `subjectAltName=${names}`];
  const options = `req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${key}`.split(' ');
  const made = judge('openssl', [...options, '-subj', subject, ...more]);
  return made.output.slice(made.output.indexOf('-----BEGIN CERTIFICATE REQUEST'));
}

interface Ask {
  readonly name: string;
  readonly pem: string;
  readonly signerName?: string;
  readonly usages?: readonly string[];
}

async function ask(as: KubernetesClient, { name, pem, signerName = kubeletClientSigner, usages }: Ask): Promise<void> {
  await as.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages: usages ?? ['digital signature', signerName === kubeletServingSigner ? 'server auth' : 'client auth'],
    },
  });
}

const worker = (name: string): string => `/O=system:nodes/CN=system:node:${name}`;
const newToken = async (pool = 'worker') => {
  const issued = await issueBootstrapToken(admin, { random: host.random, now: new Date(), pool });
  const credential = { kind: 'token', token: issued.token.reveal() } as const;
  return { id: issued.id, credential, client: await client({ text: kubeconfigOf(credential) }) };
};

async function certificateOf(name: string): Promise<string> {
  await plane.until(`${name} to be signed`, () =>
    Boolean(plane.kubectl('get', 'csr', name, '-o', 'jsonpath={.status.certificate}').output),
  );
  const encoded = plane.kubectl('get', 'csr', name, '-o', 'jsonpath={.status.certificate}').output;
  return Buffer.from(encoded, 'base64').toString('utf8');
}

async function whyPending(name: string): Promise<string> {
  const message = (): string =>
    plane.kubectl(
      'get',
      'events',
      '--field-selector',
      `involvedObject.name=${name}`,
      '-o',
      'jsonpath={.items[*].message}',
    ).output;
  await plane.until(`an event on ${name}`, () => message().startsWith('Not approved'));
  expect(plane.kubectl('get', 'csr', name, '-o', 'jsonpath={.status.conditions}').output).toBe('');
  return message();
}

const registerNode = (name: string): Promise<KubernetesObject> =>
  admin.create({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

describe('a machine that may join', () => {
  test('gets a certificate for its single-use token, its labels, and the token goes when the node is here', async () => {
    const token = await newToken();
    await ask(token.client, { name: 'good', pem: opensslRequest(worker('worker-0')) });
    const certificate = readCertificate(await certificateOf('good'));
    expect(certificate.subjectText).toContain('system:node:worker-0');
    expect(plane.kubectl('get', 'csr', 'good', '-o', 'jsonpath={.status.conditions[0].message}').output).toContain(
      `token ${token.id} of the pool worker`,
    );
    expect((await findBootstrapToken(admin, token.id))?.used?.by).toBe('worker-0');
    // The kubelet fetches its certificate with the token that it has just used.
    expect(
      (
        await token.client.get({
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          name: 'good',
        })
      ).kind,
    ).toBe('CertificateSigningRequest');
    await registerNode('worker-0');
    await plane.until(
      'the label and the end of the token',
      () =>
        plane.kubectl('get', 'node', 'worker-0', '--show-labels').output.includes('node-role.kubernetes.io/worker=') &&
        events.some((event) => event.kind === 'token-deleted' && event.id === token.id),
    );
    // kube-apiserver remembers a good token for ten seconds; it is worth nothing any more.
    const after = await ask(token.client, { name: 'again', pem: opensslRequest(worker('worker-2')) }).catch(
      ({ code }: FirstlightError) => code,
    );
    if (after === undefined) expect(await whyPending('again')).toContain('is not one that a config server');
    else expect(after).toBe('KUBERNETES_UNAUTHORIZED');
  });

  test('of a master the token stays until the master has said that it holds its keys', async () => {
    const token = await newToken('master');
    await ask(token.client, { name: 'master', pem: opensslRequest(worker('master-1')) });
    await certificateOf('master');
    await registerNode('master-1');
    await plane.until('the label', () =>
      plane.kubectl('get', 'node', 'master-1', '--show-labels').output.includes('node-role.kubernetes.io/master='),
    );
    expect((await findBootstrapToken(admin, token.id))?.used?.by).toBe('master-1');
    await recordKeysHeld(admin, token.id, { node: 'master-1' });
    await plane.until('the end of the token', () =>
      events.some((event) => event.kind === 'token-deleted' && event.id === token.id),
    );
  });

  test('a token is good for one request: the second stays pending, also when both come at the same moment', async () => {
    const token = await newToken();
    const both = ['twin-a', 'twin-b'];
    await Promise.all(
      both.map((name, n) => ask(token.client, { name, pem: opensslRequest(worker(`worker-${n + 1}`)) })),
    );
    const approved = (): string[] =>
      both.filter((name) => plane.kubectl('get', 'csr', name, '-o', 'jsonpath={.status.certificate}').output !== '');
    await plane.until('one of them to be signed', () => approved().length > 0);
    const [loser] = both.filter((name) => !approved().includes(name));
    await whyPending(loser ?? '');
    const otherName = loser === 'twin-a' ? 'worker-1' : 'worker-2';
    await ask(token.client, { name: 'third', pem: opensslRequest(worker(otherName)) });
    expect(await whyPending('third')).toMatch(/was used before, by worker-[12] at/);
    expect(approved()).toHaveLength(1);
  });

  test('asks by the same key when its answer was lost and is let in again, and nobody ever is by another key', async () => {
    const token = await newToken();
    const machine = testMachine(join(plane.folder, 'worker-3'), '127.0.0.1');
    machine.put('/etc/kubernetes/kubeconfig', kubeconfigOf(token.credential));
    const asked = () => askForIdentity(machine.host, token.client, { nodeName: 'worker-3' });
    const { request = '' } = await asked();
    await certificateOf(request);
    // The request itself is gone, too: kube-controller-manager removes it an hour after it was signed.
    expect(plane.kubectl('delete', 'csr', request)).toMatchObject({ code: 0 });
    expect((await asked()).request).toBe(request);
    expect(readCertificate(await certificateOf(request)).subjectText).toContain('system:node:worker-3');
    expect(await asked()).toEqual({});
    const pair = machine.at('/var/lib/kubelet/pki');
    expect(readdirSync(pair).filter((name) => name.endsWith('.pem') && !name.includes('current'))).toHaveLength(1);
    await ask(token.client, { name: 'stolen', pem: opensslRequest(worker('worker-3')) });
    expect(await whyPending('stolen')).toContain('was used before, by worker-3');
    const usedAt = `firstlight.io/used-at=${new Date(Date.now() - 1_800_000).toISOString()}`;
    const secret = ['secret', `bootstrap-token-${token.id}`, '--namespace=kube-system'];
    expect(plane.kubectl('annotate', '--overwrite', ...secret, usedAt)).toMatchObject({ code: 0 });
    await ask(token.client, { name: 'stolen-later', pem: opensslRequest(worker('worker-3')) });
    expect(await whyPending('stolen-later')).toContain('was used before, by worker-3');
  });

  test('a node gets a serving certificate for its own addresses', async () => {
    const facts = { ...plane.facts, machine: { name: 'worker-0', addresses: [] } };
    const node = await clientWith(machineLeaf('kubelet-client', facts), 'kubelet-signer');
    const pem = opensslRequest(worker('worker-0'), 'DNS:worker-0,IP:192.0.2.21');
    await ask(node, { name: 'serving', pem, signerName: kubeletServingSigner });
    writeFileSync(join(plane.folder, 'serving.crt'), await certificateOf('serving'));
    const ca = join(plane.pki, 'kubelet-signer.crt');
    const verified = judge('openssl', [
      'verify',
      '-purpose',
      'sslserver',
      '-CAfile',
      ca,
      join(plane.folder, 'serving.crt'),
    ]);
    expect(verified.output).toContain('OK');
    const foreign = opensslRequest(worker('worker-0'), 'DNS:worker-0,IP:192.0.2.11');
    await ask(node, { name: 'serving-foreign', pem: foreign, signerName: kubeletServingSigner });
    expect(await whyPending('serving-foreign')).toContain('192.0.2.11, which is not among the addresses');
    const other = opensslRequest(worker('worker-2'), 'DNS:worker-2');
    // The API refuses this one itself (NodeRestriction); our own rule is in the table of decide-request.test.ts.
    await expect(ask(node, { name: 'serving-other', pem: other, signerName: kubeletServingSigner })).rejects.toThrow(
      'can only create a node CSR with CN=system:node:worker-0',
    );
  });
});

const hostile: Record<string, { subject: string; names?: string; usages?: readonly string[]; why: RegExp }> = {
  'a live node': { subject: worker('worker-0'), why: /a live node is called worker-0 already/ },
  'a master, by a worker': { subject: worker('master-0'), why: /is a master, but token/ },
  'an unknown machine': { subject: worker('evil'), why: /evil is not in the inventory/ },
  'one group more': { subject: '/O=system:nodes/O=system:masters/CN=system:node:worker-2', why: /not exactly/ },
  'other attributes': { subject: '/OU=x/O=system:nodes/CN=system:node:worker-2', why: /honest request does not: OU=x/ },
  'alternative names': { subject: worker('worker-2'), names: 'DNS:worker-2', why: /no alternative names/ },
};

describe('what must not join', () => {
  test.each(Object.entries(hostile))('a request for %s stays pending, with an event', async (title, shape) => {
    const name = `hostile-${title.replaceAll(/[^a-z]+/g, '-')}`;
    const { client: as } = await newToken();
    await ask(as, { name, pem: opensslRequest(shape.subject, shape.names) });
    expect(await whyPending(name)).toMatch(shape.why);
  });

  test('a request by somebody who has no token of ours stays pending, whatever else it may do', async () => {
    const subject = { commonName: 'mallory', organizations: [] };
    const contents = { subject, dnsNames: [], ipAddresses: [], purpose: 'client', validityDays: 1 } as const;
    const mallory = await clientWith(contents, 'control-plane-client-signer');
    await ask(mallory, { name: 'by-mallory', pem: opensslRequest(worker('worker-2')) });
    expect(await whyPending('by-mallory')).toContain('does not ask with a bootstrap token');
    await admin.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bootstrap-token-foreig', namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'foreig',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': 'system:bootstrappers:nodes',
      },
    });
    const foreign = await client({ text: kubeconfigOf({ kind: 'token', token: 'foreig.0123456789abcdef' }) });
    await ask(foreign, { name: 'by-foreign', pem: opensslRequest(worker('worker-2')) });
    expect(await whyPending('by-foreign')).toContain('the token foreig is not one that a config server');
  });

  test('the loop met no trouble, and approved nothing but what this suite expects', () => {
    expect(events.filter(({ kind }) => kind === 'trouble')).toEqual([]);
    const approved = events.flatMap((event) => (event.kind === 'approved' ? [event.request] : []));
    expect(approved.map((name) => name.replace(/-([ab]|[0-9a-f]{32})$/, '')).toSorted()).toEqual([
      'good',
      'kubelet',
      'kubelet',
      'master',
      'serving',
      'twin',
    ]);
  });
});
