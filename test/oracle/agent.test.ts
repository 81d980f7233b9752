// A master takes its place: the real agent with its duties, the real etcd and kube-apiserver. It joins a running
// bootstrap machine as a learner, votes, serves the API by its own pods, and carries the cluster when the other is gone.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeBootstrapToken } from '../../src/admission/bootstrap-token-secret.ts';
import { nodeAccess } from '../../src/assets/manifests/access.ts';
import { agentAccess } from '../../src/assets/manifests/agent-access.ts';
import { inventoryManifest } from '../../src/assets/manifests/inventory.ts';
import { type AgentState, agentStateFile, agentStateSchema } from '../../src/contract/agent-state.ts';
import type { Inventory } from '../../src/contract/inventory.ts';
import { nodeSettingsText } from '../../src/contract/node-settings.ts';
import { encryptionConfigurationText, newEncryptionKey } from '../../src/contract/secrets-encryption.ts';
import { apiserverPod } from '../../src/control-plane/apiserver-pod.ts';
import { certificateFile, keyFile } from '../../src/control-plane/control-plane-paths.ts';
import { etcdMemberFlags } from '../../src/control-plane/etcd-member.ts';
import { etcdPod } from '../../src/control-plane/etcd-pod.ts';
import { ensureMachineCredentials, heldSigners } from '../../src/control-plane/machine-credentials.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { Secret } from '../../src/host/secret.ts';
import { connectKubernetes, type KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { toYaml } from '../../src/kubernetes/yaml.ts';
import { lookAfterMembers } from '../../src/membership/look-after-members.ts';
import type { MembershipEvent } from '../../src/membership/membership-events.ts';
import type { MembershipStage } from '../../src/membership/move.ts';
import { runAgent } from '../../src/node/agent.ts';
import { readEtcdTls } from '../../src/node/api-identity.ts';
import { redemptionFile } from '../../src/node/duties/keys.ts';
import { dutiesOf } from '../../src/node/duties.ts';
import { type Credential, issueLeaf, issueSigner } from '../../src/pki/issue.ts';
import { generateKeyPair, readKeyPair } from '../../src/pki/key.ts';
import { clusterLeaf, machineLeaf, type SignerName, signerProfiles } from '../../src/pki/profiles.ts';
import { type TestMachine, testMachine } from './agent-machine.ts';
import { signFirstRequest } from './kubelet-signer.ts';
import { oracleProgram } from './programs.ts';
import { voterHistory } from './voter-history.ts';

const real = realHost();
const folder = mkdtempSync(join(tmpdir(), 'firstlight-agent-'));
// Addresses of loopback that nobody else uses at this moment, so that every port can be the real one.
const subnet = `127.${10 + (process.pid % 200)}.${(process.pid >> 8) % 250}`;
const bootstrap = testMachine(join(folder, 'bootstrap'), `${subnet}.1`);
const master = testMachine(join(folder, 'master-0'), `${subnet}.2`);
const inventory: Inventory = {
  isClosed: true,
  machines: [
    { name: 'bootstrap', role: 'bootstrap', addresses: [bootstrap.address] },
    { name: 'master-0', role: 'master', addresses: [master.address] },
    { name: 'worker-0', role: 'worker', addresses: [`${subnet}.3`] },
  ],
};
const cluster = { domain: 'demo.firstlight.test', serviceAddresses: ['172.30.0.1'], apiVips: [] };
const controlPlane = {
  ...cluster,
  clusterName: 'demo',
  clusterId: 'c1f2',
  serviceNetwork: '172.30.0.0/16',
  podNetwork: '10.128.0.0/14',
  podPrefix: 23,
  masters: 1,
};
/** There is no load balancer here: of the bootstrap machine first, of the master in the end. */
let apiServerUrl = `https://${bootstrap.address}:6443`;
const events: MembershipEvent[] = [];
const log: string[] = [];
let stopAgent: () => Promise<void> = async () => {};

beforeAll(async () => {
  await writeKeys();
  await startBootstrap();
  writeFileSync(join(folder, 'admin.kubeconfig'), adminKubeconfig());
  await until('the API of the bootstrap machine', async () => kubectl('get', '--raw', '/readyz') === 'ok');
  const written = [agentAccess, inventoryManifest].map((manifest) =>
    manifest.generate({ inventory }, undefined as never),
  );
  for (const [file] of await Promise.all([...written, nodeAccess.generate({}, undefined as never)])) {
    writeFileSync(join(folder, 'manifest.yaml'), file!.content);
    kubectl('apply', '-f', join(folder, 'manifest.yaml'));
  }
  for (const [index, { name, addresses }] of inventory.machines.slice(1).entries()) {
    const spec = { podCIDRs: [`10.128.${index * 2}.0/23`], podCIDR: `10.128.${index * 2}.0/23` };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec };
    writeFileSync(join(folder, 'manifest.yaml'), toYaml(node));
    kubectl('create', '-f', join(folder, 'manifest.yaml'));
    const status = { addresses: [{ type: 'InternalIP', address: addresses[0] }] };
    kubectl('patch', 'node', name, '--subresource=status', '-p', JSON.stringify({ status }));
  }
}, 120_000);

afterAll(async () => {
  await stopAgent();
  await master[Symbol.asyncDispose]();
  await bootstrap[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe('a master and its agent', () => {
  test('joins etcd, votes, and serves the API with its own pods', async () => {
    master.put('/etc/firstlight/node.json', settingsText());
    master.put('/run/firstlight/node.env', `NODE_NAME=master-0\nNODE_IP=${master.address}\n`);
    master.put('/usr/local/share/firstlight/release.json', releaseText());
    giveToken('abcdef.0123456789abcdef');
    mkdirSync(master.at('/etc/kubernetes/manifests'), { recursive: true });
    master.startKubelet(['etcd', 'kube-apiserver']);
    startAgent();
    await until('it asks with its token', async () => log.some((line) => line.includes('to know the token')));
    await publishToken('abcdef.0123456789abcdef');
    await using admin = await connectKubernetes(real, { path: join(folder, 'admin.kubeconfig') });
    await signFirstRequest(admin, 'master-0', signer('kubelet-signer'));
    await lookAfter('grown');
    expect(voterHistory(events)).toEqual([1, 2]);
    await until('every duty is settled', async () => state()?.isSettled === true && isComplete(state()));
    expect(state()).toMatchObject({ node: 'master-0', role: 'master' });
  });

  test('started its kubelet when its certificate was signed, and not before', async () => {
    const asked = log.filter((line) => line.startsWith('kubelet: '));
    expect(asked).toEqual([
      'kubelet: waiting for the API to know the token of this machine',
      'kubelet: waiting for the certificate of this node to be signed',
      'kubelet: started kubelet.service',
      'kubelet: settled',
    ]);
    const commands = master.commands.filter((line) => line.endsWith(' kubelet.service'));
    expect(commands.map((line) => line.replace(/^\S+ /, ''))).toEqual(['start --no-block kubelet.service']);
    const link = master.at('/etc/systemd/system/multi-user.target.wants/kubelet.service');
    expect(readlinkSync(link)).toBe('/etc/systemd/system/kubelet.service');
  });

  test('wrote what a node needs for its pods', () => {
    const network = JSON.parse(readFileSync(master.at('/etc/cni/net.d/10-firstlight.conflist'), 'utf8')) as object;
    expect(JSON.stringify(network)).toContain('10.128.0.0/23');
    expect(master.commands).toContain(`ip -4 route add 10.128.2.0/23 via ${subnet}.3 proto 241`);
    expect(readFileSync(master.at('/var/lib/kube-proxy/kubeconfig'), 'utf8')).toContain('pki/kube-proxy.crt');
    expect(master.commands).toContain('/usr/bin/systemctl is-active --quiet machine-config-server.service');
  });

  test('renewed the leaf that had grown old, in its turn, and no other', () => {
    expect(log.filter((line) => line.startsWith('renewed'))).toEqual(['renewed kube-scheduler']);
    const holder = kubectl(
      '-n',
      'kube-system',
      'get',
      'lease',
      'leaf-renewal',
      '-o',
      'jsonpath={.spec.leaseTransitions}',
    );
    expect(holder).toBe('1');
  });

  test('may do what its duties need and not what lies beside it', () => {
    const system = { namespace: 'kube-system' };
    const certificates = { group: 'certificates.k8s.io', resource: 'signers' };
    const allowed = [
      { verb: 'patch', resource: 'configmaps', name: 'firstlight-join-master-0', ...system },
      { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', name: 'etcd-membership', ...system },
      { verb: 'approve', ...certificates, name: 'kubernetes.io/kubelet-serving' },
      { verb: 'create', resource: 'secrets', ...system },
    ];
    const denied = [
      { verb: 'patch', resource: 'configmaps', name: 'extension-apiserver-authentication', ...system },
      { verb: 'patch', resource: 'configmaps', name: 'firstlight-inventory', ...system },
      { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', name: 'kube-scheduler', ...system },
      { verb: 'create', group: 'coordination.k8s.io', resource: 'leases', ...system },
      { verb: 'approve', ...certificates, name: 'kubernetes.io/kube-apiserver-client' },
      { verb: 'sign', ...certificates, name: 'kubernetes.io/kubelet-serving' },
      { verb: 'get', resource: 'secrets', namespace: 'default' },
      { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
      { verb: 'delete', resource: 'nodes' },
      { verb: 'create', resource: 'pods', ...system },
    ];
    expect(allowed.filter((wish) => !agentMay(wish))).toEqual([]);
    expect(denied.filter((wish) => agentMay(wish))).toEqual([]);
  });

  test('told the cluster that its keys are here, so that its token can go', () => {
    expect(kubectl('-n', 'kube-system', 'get', 'secret', 'bootstrap-token-abcdef', '-o', 'yaml')).toContain(
      'firstlight.io/keys-held-by: master-0',
    );
    expect(existsSync(master.at(redemptionFile))).toBe(false);
  });

  test('asked to stop, it ends at once and gives its Leases back; started again, it changes nothing', async () => {
    const started = performance.now();
    await stopAgent();
    expect(performance.now() - started).toBeLessThan(5_000);
    const holders = ['etcd-membership', 'csr-approver'].map((name) =>
      kubectl('-n', 'kube-system', 'get', 'lease', name, '-o', 'jsonpath={.spec.holderIdentity}'),
    );
    expect(holders).toEqual(['', '']);
    const before = log.length;
    startAgent();
    await until('it leads again', async () => log.slice(before).includes('membership: settled (leads)'));
    const did = log.slice(before).filter((line) => !/: (settled|waiting for)|^(approver|etcd): \{/.test(line));
    expect(did).toEqual([]);
  });

  test('finishes what the bootstrap machine began, and carries the cluster alone', async () => {
    kubectl('-n', 'kube-system', 'create', 'configmap', 'bootstrap', '--from-literal=status=complete');
    // Its member stays for as long as the bootstrap machine serves the API.
    await until('it waits', async () => log.some((line) => line.includes('the API of bootstrap to end')));
    await stopAgent();
    apiServerUrl = `https://${master.address}:6443`;
    rmSync(bootstrap.at('/etc/kubernetes/manifests/kube-apiserver-pod.yaml'));
    const before = log.length;
    startAgent();
    // The master holds the Lease by then; the bootstrap machine sees that it was removed all the same.
    await until('it leads', async () => log.slice(before).includes('membership: settled (leads)'));
    await lookAfter('steady');
    expect(voterHistory(events)).toEqual([1, 2, 1]);
    expect(log.join('\n')).toContain('"because":"bootstrap-done"');
    await bootstrap[Symbol.asyncDispose]();
    writeFileSync(join(folder, 'admin.kubeconfig'), adminKubeconfig());
    await until('the API of the master alone', async () => kubectl('get', '--raw', '/readyz') === 'ok');
    const endpoints = JSON.parse(kubectl('-n', 'kube-system', 'get', 'cm', 'etcd-endpoints', '-o', 'json')) as {
      data: Record<string, string>;
    };
    expect(Object.values(endpoints.data)).toEqual([`https://${master.address}:2379`]);
  });
});

function startAgent(): void {
  const stop = new AbortController();
  const running = runAgent(master.host, {
    signal: stop.signal,
    log: (line) => log.push(line),
    connect: () => connectAsAgent(master, apiServerUrl),
  });
  stopAgent = async () => {
    stop.abort(new Error('asked to stop'));
    await expect(running).rejects.toThrow('asked to stop');
  };
}

async function lookAfter(stage: MembershipStage): Promise<void> {
  const client = await connectAsAgent(bootstrap, apiServerUrl);
  await lookAfterMembers({
    host: bootstrap.host,
    client,
    tls: () => readEtcdTls(bootstrap.host),
    apiCaPem: sharedKey('apiserver-ca.crt'),
    inventory: async () => inventory,
    maxLearners: 1,
    identity: 'bootstrap',
    signal: AbortSignal.timeout(60_000),
    emit: (event) => events.push(event),
    until: stage,
  });
  await client[Symbol.asyncDispose]();
}

/** As if its configuration had come from a config server, and its keys for the token in it. */
function giveToken(token: string): void {
  const caPem = sharedKey('apiserver-ca.crt');
  const kubelet = { cluster: 'demo', server: apiServerUrl, caPem, user: 'kubelet' };
  master.put('/etc/kubernetes/kubeconfig', kubeconfigText({ ...kubelet, credential: { kind: 'token', token } }));
  master.put(redemptionFile, 'chosen-by-this-machine\n');
}

async function publishToken(token: string): Promise<void> {
  await using admin = await connectKubernetes(real, { path: join(folder, 'admin.kubeconfig') });
  const now = Date.now();
  const life = { issuedAt: new Date(now), expiresAt: new Date(now + 3_600_000) };
  await storeBootstrapToken(admin, { token: new Secret(token), pool: 'master', ...life });
}

/** Its own identity and nothing more: what the manifest does not grant fails here. */
function connectAsAgent(machine: TestMachine, server: string): Promise<KubernetesClient> {
  const pki = (file: string) => ({ file: machine.at(`/etc/kubernetes/pki/${file}`) });
  const text = kubeconfigText({
    cluster: 'demo',
    server,
    caPem: pki('apiserver-ca.crt'),
    user: 'agent',
    credential: { kind: 'files', certificate: pki('node-agent.crt'), key: pki('node-agent.key') },
  });
  return connectKubernetes(real, { text });
}

function agentMay(resourceAttributes: object): boolean {
  const spec = { user: 'firstlight:node-agent:master-0', groups: ['firstlight:node-agents'], resourceAttributes };
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
  writeFileSync(join(folder, 'review.yaml'), toYaml(review));
  return kubectl('create', '-f', join(folder, 'review.yaml'), '-o', 'jsonpath={.status.allowed}') === 'true';
}

function isComplete(found: AgentState | undefined): boolean {
  return found?.duties.length === dutiesOf('master').length;
}

function state(): AgentState | undefined {
  try {
    return agentStateSchema.parse(JSON.parse(readFileSync(master.at(agentStateFile), 'utf8')));
  } catch {
    return undefined;
  }
}

async function writeKeys(): Promise<void> {
  const pki = bootstrap.at('/etc/kubernetes/pki');
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  // A year old already, so that a leaf can be old too.
  const issuing = { random: real.random, now: new Date(Date.now() - 365 * 86_400_000) };
  for (const name of heldSigners) {
    const { certificatePem, key } = issueSigner(signerProfiles[name], issuing);
    writeFileSync(join(pki, `${name}.crt`), certificatePem);
    writeFileSync(join(pki, `${name}.key`), key.privatePem.reveal(), { mode: 0o600 });
  }
  const account = generateKeyPair(real.random);
  writeFileSync(join(pki, 'service-account.key'), account.privatePem.reveal(), { mode: 0o600 });
  writeFileSync(join(pki, 'service-account.pub'), account.publicPem);
  const encryption = encryptionConfigurationText([newEncryptionKey(real.random, issuing.now)]);
  writeFileSync(join(pki, 'secrets-encryption.json'), encryption, { mode: 0o600 });
  mkdirSync(master.at('/etc/kubernetes'), { recursive: true });
  cpSync(pki, master.at('/etc/kubernetes/pki'), { recursive: true });
  ageLeaf('kube-scheduler');
  const facts = { cluster, machine: { name: 'bootstrap', addresses: [bootstrap.address] } };
  await ensureMachineCredentials({ host: bootstrap.host, facts, clusterName: 'demo' });
}

/** A leaf of the master that was made 300 days ago: good for a while, and due. */
function ageLeaf(name: 'kube-scheduler'): void {
  const facts = { cluster, machine: { name: 'master-0', addresses: [master.address] } };
  const now = new Date(Date.now() - 300 * 86_400_000);
  const { certificatePem, key } = issueLeaf(machineLeaf(name, facts), signer(), { random: real.random, now });
  master.put(certificateFile(name), certificatePem);
  master.put(keyFile(name), key.privatePem.reveal());
}

async function startBootstrap(): Promise<void> {
  const { address } = bootstrap;
  const flags = etcdMemberFlags({
    name: 'etcd-bootstrap',
    address,
    clusterToken: controlPlane.clusterId,
    initialCluster: [{ name: 'etcd-bootstrap', peerUrl: `https://${address}:2380` }],
    initialState: 'new',
    masters: 1,
  });
  const { serviceNetwork } = controlPlane;
  bootstrap.put('/etc/kubernetes/manifests/etcd-pod.yaml', toYaml(etcdPod({ image: 'etcd', flags })));
  const api = apiserverPod({ image: 'k', advertiseAddress: '192.0.2.10', serviceNetwork });
  bootstrap.put('/etc/kubernetes/manifests/kube-apiserver-pod.yaml', toYaml(api));
  bootstrap.startKubelet(['etcd', 'kube-apiserver']);
}

function settingsText(): string {
  return nodeSettingsText({ role: 'master', apiServerUrl, machineNetworks: [`${subnet}.0/24`], controlPlane });
}

function releaseText(): string {
  const version = execFileSync(oracleProgram('etcd'), ['--version'], { encoding: 'utf8' });
  const etcd = /etcd Version: (\S+)/.exec(version)?.[1] ?? '';
  return JSON.stringify({
    parts: [{ name: 'etcd', version: etcd }],
    imageVariables: {
      ETCD_IMAGE: { reference: 'etcd@sha256:1' },
      HYPERKUBE_IMAGE: { reference: 'kubernetes@sha256:2' },
    },
  });
}

function sharedKey(file: string): string {
  return readFileSync(bootstrap.at(`/etc/kubernetes/pki/${file}`), 'utf8');
}

function signer(name: SignerName = 'control-plane-client-signer'): Credential {
  return { certificatePem: sharedKey(`${name}.crt`), key: readKeyPair(sharedKey(`${name}.key`)) };
}

function adminKubeconfig(server = apiServerUrl): string {
  const issuing = { random: real.random, now: new Date() };
  const { certificatePem, key } = issueLeaf(clusterLeaf('break-glass-admin', { cluster }), signer(), issuing);
  const credential = { kind: 'certificate', certificatePem, keyPem: key.privatePem.reveal() } as const;
  return kubeconfigText({ cluster: 'demo', server, caPem: sharedKey('apiserver-ca.crt'), user: 'admin', credential });
}

function kubectl(...args: readonly string[]): string {
  const common = ['--kubeconfig', join(folder, 'admin.kubeconfig'), '--request-timeout=5s'];
  try {
    return execFileSync(oracleProgram('kubectl'), [...common, ...args], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout ?? ''}${stderr ?? ''}`;
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = Date.now() + 60_000; Date.now() < endMs; ) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`waited 60 s for ${what}\n${JSON.stringify(state(), null, 2)}\n${log.join('\n')}`);
}
