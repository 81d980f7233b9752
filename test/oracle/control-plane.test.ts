// The pods we render, run by the real programs: etcd, kube-apiserver, kube-controller-manager and kube-scheduler start
// with exactly the command lines of the pods (only folders and ports moved aside) and form a working control plane.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiserverPod } from '../../src/control-plane/apiserver-pod.ts';
import { etcdDataFolder, pkiFolder } from '../../src/control-plane/control-plane-paths.ts';
import { controllerManagerPod } from '../../src/control-plane/controller-manager-pod.ts';
import { etcdMemberFlags } from '../../src/control-plane/etcd-member.ts';
import { etcdPod } from '../../src/control-plane/etcd-pod.ts';
import { ensureMachineCredentials, heldSigners } from '../../src/control-plane/machine-credentials.ts';
import { schedulerPod } from '../../src/control-plane/scheduler-pod.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { issueLeaf, issueSigner } from '../../src/pki/issue.ts';
import { type KeyPair, readKeyPair } from '../../src/pki/key.ts';
import { clusterLeaf, signerProfiles } from '../../src/pki/profiles.ts';
import { generateServiceAccountKey } from '../../src/pki/service-account-key.ts';
import { judge, oracleProgram } from './programs.ts';

const host = realHost();
const folder = mkdtempSync(join(tmpdir(), 'firstlight-plane-'));
const pki = join(folder, 'pki');
const cluster = { domain: 'demo.firstlight.test', serviceAddresses: ['172.30.0.1'], apiVips: [] };
const facts = { cluster, machine: { name: 'master-0', addresses: ['127.0.0.1'] } };
// 192.0.2.10 is only announced; everything binds and connects on loopback.
const children: ChildProcess[] = [];
const kubeconfig = join(folder, 'admin.kubeconfig');
let ports: Readonly<Record<string, string>>;

beforeAll(async () => {
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  const now = new Date();
  for (const name of heldSigners) {
    const { certificatePem, key } = issueSigner(signerProfiles[name], { random: host.random, now });
    writeFileSync(join(pki, `${name}.crt`), certificatePem);
    writeFileSync(join(pki, `${name}.key`), key.privatePem.reveal(), { mode: 0o600 });
  }
  const account = generateServiceAccountKey(host.random);
  writeFileSync(join(pki, 'service-account.key'), account.privatePem.reveal(), { mode: 0o600 });
  writeFileSync(join(pki, 'service-account.pub'), account.publicPem);
  const moved = ['2379', '2380', '2381', '6443', '10257', '10259'];
  const free = await freePorts(moved.length);
  ports = Object.fromEntries(moved.map((port, n) => [port, String(free[n])]));
  await ensureMachineCredentials({ host, facts, clusterName: 'demo', folder: pki, kubeconfigFolder: folder });
  for (const component of ['kube-controller-manager', 'kube-scheduler']) {
    const path = join(folder, `${component}.kubeconfig`);
    writeFileSync(path, readFileSync(path, 'utf8').replace(':6443', `:${ports['6443']}`));
  }
  writeAdminKubeconfig(now);
  start('etcd', etcdPod({ image: 'etcd', flags: etcdFlags() }));
  start(
    'kube-apiserver',
    apiserverPod({ image: 'k', advertiseAddress: '192.0.2.10', serviceNetwork: '172.30.0.0/16' }),
    ['--bind-address=127.0.0.1'],
  );
  start(
    'kube-controller-manager',
    controllerManagerPod({
      image: 'k',
      clusterName: 'demo',
      podNetwork: '10.128.0.0/14',
      podPrefix: 23,
      serviceNetwork: '172.30.0.0/16',
    }),
  );
  start('kube-scheduler', schedulerPod({ image: 'k' }));
  await until('the API to be ready', () => kubectl('get', '--raw', '/readyz').output === 'ok');
}, 120_000);

afterAll(async () => {
  // An apiserver whose etcd is gone hangs in its shutdown: etcd last.
  for (const child of children.reverse()) {
    child.kill('SIGKILL');
    await new Promise((resolve) =>
      child.exitCode === null && child.signalCode === null ? child.on('exit', resolve) : resolve(0),
    );
  }
  rmSync(folder, { recursive: true, force: true });
});

function writeAdminKubeconfig(now: Date): void {
  const read = (file: string): string => readFileSync(join(pki, file), 'utf8');
  const signer = {
    certificatePem: read('control-plane-client-signer.crt'),
    key: issueKey('control-plane-client-signer'),
  };
  const leaf = issueLeaf(clusterLeaf('break-glass-admin', { cluster }), signer, { random: host.random, now });
  const credential = {
    kind: 'certificate',
    certificatePem: leaf.certificatePem,
    keyPem: leaf.key.privatePem.reveal(),
  } as const;
  const server = `https://127.0.0.1:${ports['6443']}`;
  writeFileSync(
    kubeconfig,
    kubeconfigText({ cluster: 'demo', server, caPem: read('apiserver-ca.crt'), user: 'admin', credential }),
    { mode: 0o600 },
  );
}

function issueKey(name: string): KeyPair {
  return readKeyPair(readFileSync(join(pki, `${name}.key`), 'utf8'));
}

function etcdFlags(): readonly string[] {
  const port = (name: string): number => Number(ports[name]);
  return etcdMemberFlags({
    name: 'master-0',
    address: '127.0.0.1',
    clusterToken: 'test',
    initialCluster: [{ name: 'master-0', peerUrl: `https://127.0.0.1:${ports['2380']}` }],
    initialState: 'new',
    masters: 1,
    ports: { client: port('2379'), peer: port('2380'), metrics: port('2381') },
  });
}

/** The pod's own command, with folders and ports moved to where a test may have them. */
function start(name: string, pod: object, more: readonly string[] = []): void {
  const [command] = (pod as { spec: { containers: { command: string[] }[] } }).spec.containers.map(
    (each) => each.command,
  );
  const args = (command ?? []).slice(1).map((argument) => {
    const local = argument
      .replaceAll(pkiFolder, pki)
      .replaceAll(etcdDataFolder, join(folder, 'etcd'))
      .replaceAll('/etc/kubernetes/', `${folder}/`);
    return Object.entries(ports).reduce(
      (text, [from, to]) => text.replaceAll(new RegExp(`(:|=)${from}$`, 'g'), `$1${to}`),
      local,
    );
  });
  const ownPort = { 'kube-controller-manager': '10257', 'kube-scheduler': '10259' }[name];
  const port = ownPort === undefined ? [] : [`--secure-port=${ports[ownPort]}`];
  const log = openSync(join(folder, `${name}.log`), 'w');
  children.push(spawn(oracleProgram(name), [...args, ...port, ...more], { stdio: ['ignore', log, log] }));
}

function kubectl(...args: readonly string[]): ReturnType<typeof judge> {
  return judge(oracleProgram('kubectl'), ['--kubeconfig', kubeconfig, '--request-timeout=5s', ...args]);
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const endMs = Date.now() + 60_000; Date.now() < endMs; ) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const logs = ['etcd', 'kube-apiserver'].map((name) =>
    readFileSync(join(folder, `${name}.log`), 'utf8')
      .split('\n')
      .slice(-8)
      .join('\n'),
  );
  throw new Error(`waited 60 s for ${what}\n${logs.join('\n---\n')}`);
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.on('listening', resolve))));
  const found = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return found;
}

describe('a control plane of our pods', () => {
  test('serves the API, with every check of /readyz passing', () => {
    expect(kubectl('get', '--raw', '/readyz?verbose').output).toContain('readyz check passed');
  });

  test('controller-manager and scheduler each hold their Lease, with their own identity and no more', async () => {
    for (const name of ['kube-controller-manager', 'kube-scheduler']) {
      await until(
        `${name} to lead`,
        () =>
          kubectl('-n', 'kube-system', 'get', 'lease', name, '-o', 'jsonpath={.spec.holderIdentity}').output !== '' &&
          kubectl('-n', 'kube-system', 'get', 'lease', name).code === 0,
      );
    }
    const may = (user: string): string => kubectl('auth', 'can-i', 'delete', 'nodes', '--as', user).output.trim();
    expect(may('system:kube-scheduler')).toContain('no');
  });

  test('controllers act: a Deployment becomes pods', async () => {
    expect(kubectl('create', 'deployment', 'web', '--image=web', '--replicas=2').code).toBe(0);
    await until(
      'two pods',
      () =>
        kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')
          .output.trim()
          .split('\n')
          .filter((line) => line.startsWith('pod/')).length === 2,
    );
  });

  test('a second look makes nothing anew; a leaf near its end is made anew and only that one', async () => {
    const options = { host, facts, clusterName: 'demo', folder: pki, kubeconfigFolder: join(folder, 'again') };
    mkdirSync(options.kubeconfigFolder, { recursive: true });
    expect(await ensureMachineCredentials(options)).toEqual([]);
    rmSync(join(pki, 'etcd-peer.crt'));
    expect((await ensureMachineCredentials(options)).map((leaf) => leaf.name)).toEqual(['etcd-peer']);
    const later = { ...host, clock: { ...host.clock, now: () => new Date(Date.now() + 300 * 86_400_000) } };
    const renewed = await ensureMachineCredentials({ ...options, host: later });
    expect(renewed.length).toBeGreaterThan(8);
    expect(renewed[0]?.because).toContain('of its life has passed');
  });
});
