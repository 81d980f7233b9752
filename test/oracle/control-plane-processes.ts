// A control plane on loopback from the pods we render: the real programs start with exactly the command lines of the
// pods, only folders and ports moved aside. Each suite that needs one starts its own and stops it in the end.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { noIssuers } from '../../src/contract/authentication-settings.ts';
import { auditLogFolder, etcdDataFolder } from '../../src/contract/machine-paths.ts';
import { encryptionConfigurationText, newEncryptionKey } from '../../src/contract/secrets-encryption.ts';
import { hardenedSettings } from '../../src/contract/security-settings.ts';
import { apiserverPod } from '../../src/control-plane/apiserver-pod.ts';
import { pkiFolder } from '../../src/control-plane/control-plane-paths.ts';
import { controllerManagerPod } from '../../src/control-plane/controller-manager-pod.ts';
import { etcdMemberFlags } from '../../src/control-plane/etcd-member.ts';
import { etcdPod } from '../../src/control-plane/etcd-pod.ts';
import { ensureMachineCredentials, heldSigners } from '../../src/control-plane/machine-credentials.ts';
import { schedulerPod } from '../../src/control-plane/scheduler-pod.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { apiserverConfiguration } from '../../src/machine-software/apiserver-configuration.ts';
import { type Credential, issueLeaf, issueSigner } from '../../src/pki/issue.ts';
import { generateKeyPair, readKeyPair } from '../../src/pki/key.ts';
import { type CertificateFacts, clusterLeaf, type SignerName, signerProfiles } from '../../src/pki/profiles.ts';
import { freePorts } from './free-ports.ts';
import { judge, oracleProgram, type Verdict } from './programs.ts';

const host = realHost();
const cluster = { domain: 'demo.firstlight.test', serviceAddresses: ['172.30.0.1'], apiVips: [] };
const movedPorts = ['2379', '2380', '2381', '6443', '10257', '10259'];

/** Each the opposite of its default. */
export const featureGates = { ContainerStopSignals: true, WatchListClient: false };

export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

export interface ControlPlaneProcesses {
  readonly folder: string;
  readonly pki: string;
  readonly facts: CertificateFacts;
  readonly server: string;
  /** Of break-glass-admin. */
  readonly kubeconfig: string;
  readonly ports: Readonly<Record<string, string>>;
  readonly kubectl: (...args: readonly string[]) => Verdict;
  readonly etcdctl: (...args: readonly string[]) => Verdict;
  readonly signer: (name: SignerName) => Credential;
  readonly until: (what: string, holds: () => boolean) => Promise<void>;
  /** Starts a component again that `kill` has ended. */
  readonly start: (component: Component) => void;
  readonly kill: (component: Component) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Resolves when /readyz of the API says ok. */
export async function startControlPlane(components: readonly Component[]): Promise<ControlPlaneProcesses> {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-plane-'));
  const pki = join(folder, 'pki');
  const facts: CertificateFacts = { cluster, machine: { name: 'master-0', addresses: ['127.0.0.1'] } };
  const free = await freePorts(movedPorts.length);
  const ports = Object.fromEntries(movedPorts.map((port, n) => [port, String(free[n])]));
  await writeCredentials({ folder, pki, facts, ports });
  writeApiserverConfiguration(folder);
  const running = new Map<Component, ChildProcess>();
  const kill = async (component: Component): Promise<void> => {
    const child = running.get(component);
    running.delete(component);
    child?.kill('SIGKILL');
    await new Promise((resolve) =>
      child === undefined || child.exitCode !== null || child.signalCode !== null
        ? resolve(0)
        : child.on('exit', resolve),
    );
  };
  const plane: ControlPlaneProcesses = {
    folder,
    pki,
    facts,
    ports,
    server: `https://127.0.0.1:${ports['6443']}`,
    kubeconfig: join(folder, 'admin.kubeconfig'),
    kubectl: (...args) =>
      judge(oracleProgram('kubectl'), ['--kubeconfig', plane.kubeconfig, '--request-timeout=5s', ...args]),
    etcdctl: (...args) => {
      const client = join(folder, 'kube-apiserver', 'apiserver-etcd-client');
      const identity = [`--cacert=${join(pki, 'etcd-ca.crt')}`, `--cert=${client}.crt`, `--key=${client}.key`];
      return judge(oracleProgram('etcdctl'), [`--endpoints=https://127.0.0.1:${ports['2379']}`, ...identity, ...args]);
    },
    signer: (name) => readSigner(pki, name),
    until: (what, holds) => until(folder, what, holds),
    start: (component) => running.set(component, startComponent(plane, component)),
    kill,
    stop: async () => {
      // An apiserver whose etcd is gone hangs in its shutdown: etcd last.
      for (const component of [...running.keys()].reverse()) await kill(component);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    for (const component of components) plane.start(component);
    await plane.until('the API to be ready', () => plane.kubectl('get', '--raw', '/readyz').output === 'ok');
  } catch (error) {
    await plane.stop();
    throw error;
  }
  return plane;
}

interface Place {
  readonly folder: string;
  readonly pki: string;
  readonly facts: CertificateFacts;
  readonly ports: Readonly<Record<string, string>>;
}

async function writeCredentials({ folder, pki, facts, ports }: Place): Promise<void> {
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  const now = new Date();
  for (const name of heldSigners) {
    const { certificatePem, key } = issueSigner(signerProfiles[name], { random: host.random, now });
    writeFileSync(join(pki, `${name}.crt`), certificatePem);
    writeFileSync(join(pki, `${name}.key`), key.privatePem.reveal(), { mode: 0o600 });
  }
  const account = generateKeyPair(host.random);
  writeFileSync(join(pki, 'service-account.key'), account.privatePem.reveal(), { mode: 0o600 });
  writeFileSync(join(pki, 'service-account.pub'), account.publicPem);
  const encryption = encryptionConfigurationText([newEncryptionKey(host.random, now)]);
  writeFileSync(join(pki, 'secrets-encryption.json'), encryption, { mode: 0o600 });
  await ensureMachineCredentials({ host, facts, clusterName: 'demo', root: folder });
  for (const component of ['kube-controller-manager', 'kube-scheduler']) {
    const path = join(folder, component, 'kubeconfig');
    writeFileSync(path, readFileSync(path, 'utf8').replace(':6443', `:${ports['6443']}`));
  }
  const admin = issueLeaf(
    clusterLeaf('break-glass-admin', { cluster }),
    readSigner(pki, 'control-plane-client-signer'),
    { random: host.random, now },
  );
  const text = kubeconfigText({
    cluster: 'demo',
    server: `https://127.0.0.1:${ports['6443']}`,
    caPem: readFileSync(join(pki, 'apiserver-ca.crt'), 'utf8'),
    user: 'admin',
    credential: {
      kind: 'certificate',
      certificatePem: admin.certificatePem,
      keyPem: admin.key.privatePem.reveal(),
    },
  });
  writeFileSync(join(folder, 'admin.kubeconfig'), text, { mode: 0o600 });
}

function writeApiserverConfiguration(folder: string): void {
  for (const { path, text } of apiserverConfiguration(hardenedSettings, noIssuers)) {
    const moved = path.replace('/etc/kubernetes', folder);
    mkdirSync(dirname(moved), { recursive: true });
    writeFileSync(moved, text);
  }
}

function readSigner(pki: string, name: SignerName): Credential {
  return {
    certificatePem: readFileSync(join(pki, `${name}.crt`), 'utf8'),
    key: readKeyPair(readFileSync(join(pki, `${name}.key`), 'utf8')),
  };
}

// 192.0.2.10 is only announced; everything binds and connects on loopback.
const pods: Readonly<Record<Component, () => object>> = {
  etcd: () => etcdPod({ image: 'etcd', flags: etcdFlags() }),
  'kube-apiserver': () =>
    apiserverPod({ image: 'k', advertiseAddress: '192.0.2.10', serviceNetwork: '172.30.0.0/16', featureGates }),
  'kube-controller-manager': () =>
    controllerManagerPod({
      image: 'k',
      clusterName: 'demo',
      podNetwork: '10.128.0.0/14',
      podPrefix: 23,
      serviceNetwork: '172.30.0.0/16',
      featureGates,
    }),
  'kube-scheduler': () => schedulerPod({ image: 'k', featureGates }),
};

/** The pod's own command, with folders and ports moved to where a test may have them. */
function startComponent({ folder, pki, ports }: ControlPlaneProcesses, name: Component): ChildProcess {
  const pod = pods[name]() as { spec: { containers: { command: string[] }[] } };
  const [command] = pod.spec.containers.map((each) => each.command);
  const args = (command ?? []).slice(1).map((argument) => {
    const local = argument
      .replaceAll(pkiFolder, pki)
      .replaceAll(etcdDataFolder, join(folder, 'etcd-data'))
      .replaceAll(auditLogFolder, join(folder, 'audit'))
      .replaceAll('/etc/kubernetes/', `${folder}/`);
    return Object.entries(ports).reduce(
      (text, [from, to]) => text.replaceAll(new RegExp(`(:|=)${from}$`, 'g'), `$1${to}`),
      local,
    );
  });
  const more: Readonly<Record<Component, readonly string[]>> = {
    etcd: [],
    'kube-apiserver': ['--bind-address=127.0.0.1'],
    'kube-controller-manager': [`--secure-port=${ports['10257']}`],
    'kube-scheduler': [`--secure-port=${ports['10259']}`],
  };
  const log = openSync(join(folder, `${name}.log`), 'a');
  return spawn(oracleProgram(name), [...args, ...more[name]], { stdio: ['ignore', log, log] });
}

function etcdFlags(): readonly string[] {
  return etcdMemberFlags({
    name: 'master-0',
    address: '127.0.0.1',
    clusterToken: 'test',
    initialCluster: [{ name: 'master-0', peerUrl: 'https://127.0.0.1:2380' }],
    initialState: 'new',
    masters: 1,
  });
}

async function until(folder: string, what: string, holds: () => boolean): Promise<void> {
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
