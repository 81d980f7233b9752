// Three machines of the local platform, made ready for kubeadm and then taken from `kubeadm init` to a cluster.
// What is done in `prepare` is not timed; `run` is what a person who knows kubeadm well would type, both joins at once.
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Host } from '../src/host/host.ts';
import { machinePaths } from '../src/platform/local/cluster-folder.ts';
import { enterCommand } from '../src/platform/local/enter-command.ts';
import { readLocalCluster } from '../src/platform/local/local-cluster.ts';
import { readMachines } from '../src/platform/local/machine-folder.ts';
import { findProcesses } from '../src/platform/local/observe-machines.ts';
import type { OwnProcess } from '../src/platform/local/own-process.ts';
import {
  cniConfiguration,
  imageRepository,
  initConfiguration,
  joinConfiguration,
  type KubeadmCluster,
  kubeadmIgnition,
  podRange,
} from './kubeadm-config.ts';

const run = promisify(execFile);
const launcher = new URL('../firstlight', import.meta.url).pathname;
export const kubeadmMasters = ['master-0', 'master-1', 'master-2'];
const adminFile = '/etc/kubernetes/admin.conf';

/** Of the parts of our release, by name. */
export type PartVersions = Readonly<Record<string, string>>;

export interface KubeadmInput {
  readonly host: Host;
  readonly cluster: string;
  /** Folder for what is handed to programs. */
  readonly folder: string;
  readonly versions: PartVersions;
  readonly images: readonly NamedImage[];
  readonly kubeadm: string;
  readonly proxyArchive: string;
}

export interface PreparedKubeadm {
  readonly run: () => Promise<void>;
  readonly kubeconfig: () => string | undefined;
}

export async function prepareKubeadm(input: KubeadmInput): Promise<PreparedKubeadm> {
  const { host, cluster, folder } = input;
  const ignition = join(folder, 'kubeadm.ign');
  writeFileSync(ignition, JSON.stringify(kubeadmIgnition));
  const role = ['--cluster', cluster, '--role', 'master', '--ignition', ignition];
  execFileSync(launcher, ['machine', 'create', ...role, ...kubeadmMasters], { stdio: ['ignore', 'ignore', 'inherit'] });
  const local = await readLocalCluster(host, cluster);
  if (local === undefined) throw new Error(`there is no cluster ${cluster}`);
  const facts = { domain: local.domain, ...tagsOf(input.versions) };
  const machines = await readMachines(host, cluster);
  const addresses = kubeadmMasters.map((name) => machines.find((one) => one.name === name)?.address ?? '');
  const leaders = await Promise.all(kubeadmMasters.map((name) => leaderOf(input, name)));
  for (const [index, leader] of leaders.entries()) await prepareMachine(input, { index, leader, addresses, facts });
  const inside = async (index: number, command: readonly string[]): Promise<void> => {
    const leader = leaders[index];
    if (leader === undefined) throw new Error(`there is no machine ${index}`);
    const [program, ...args] = enterCommand(leader, command);
    await run(program, args, { maxBuffer: 1 << 24 });
  };
  return {
    run: async () => {
      await inside(0, ['kubeadm', 'init', '--config', '/root/kubeadm.yaml', '--upload-certs', ...ignored]);
      const join = ['kubeadm', 'join', '--config', '/root/kubeadm.yaml', ...ignored];
      await Promise.all([inside(1, join), inside(2, join)]);
    },
    kubeconfig: () => adminKubeconfig(cluster, local.hostPort),
  };
}

/** The kernel of a container has no modules to look at; nothing else of what kubeadm checks is left out. */
const ignored = ['--ignore-preflight-errors=SystemVerification,Swap'];

async function leaderOf({ host, cluster }: KubeadmInput, machine: string): Promise<OwnProcess> {
  const { leader } = await findProcesses(host, cluster, machine);
  if (leader === undefined) throw new Error(`${machine} does not run`);
  return leader;
}

interface MachineToPrepare {
  readonly index: number;
  readonly leader: OwnProcess;
  readonly addresses: readonly string[];
  readonly facts: KubeadmCluster;
}

async function prepareMachine(
  input: KubeadmInput,
  { index, leader, addresses, facts }: MachineToPrepare,
): Promise<void> {
  const root = `/proc/${leader.pid}/root`;
  const inside = (...command: readonly string[]): string => {
    const [program, ...args] = enterCommand(leader, command);
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  };
  execFileSync('cp', [input.kubeadm, `${root}/usr/local/bin/kubeadm`]);
  execFileSync('cp', [input.proxyArchive, `${root}/root/proxy.tar`]);
  inside('mkdir', '-p', '/etc/cni/net.d');
  writeFileSync(`${root}/etc/cni/net.d/10-bench.conflist`, cniConfiguration(index));
  const address = addresses[index] ?? '';
  const config = index === 0 ? initConfiguration(facts, address) : joinConfiguration(facts, address);
  writeFileSync(`${root}/root/kubeadm.yaml`, config);
  for (const [peer, via] of addresses.entries()) {
    if (peer !== index) inside('ip', 'route', 'replace', podRange(peer), 'via', via);
  }
  inside('ctr', '--namespace', 'k8s.io', 'images', 'import', '/root/proxy.tar');
  rmSync(`${root}/root/proxy.tar`);
  for (const { wanted, present } of input.images.filter((image) => image.wanted !== image.present)) {
    inside('ctr', '--namespace', 'k8s.io', 'images', 'tag', '--force', present, wanted);
  }
}

export interface NamedImage {
  /** What kubeadm calls it. */
  readonly wanted: string;
  /** What our release calls it. */
  readonly present: string;
}

/** kubeadm is asked which images it wants; all but kube-proxy are those of our release under another name. */
export function kubeadmImages(kubeadm: string, versions: PartVersions, folder: string): readonly NamedImage[] {
  const file = join(folder, 'images.yaml');
  writeFileSync(file, initConfiguration({ domain: 'x.test', ...tagsOf(versions) }, '192.0.2.1'));
  const listed = execFileSync(kubeadm, ['config', 'images', 'list', '--config', file], { encoding: 'utf8' });
  const names = listed.trim().split('\n');
  return names.flatMap((wanted) => {
    const component = /\/([\w-]+):/.exec(wanted)?.[1] ?? '';
    if (component === 'kube-proxy') return [];
    const part = component.startsWith('kube-') ? 'kubernetes' : component;
    const version = versions[part];
    if (version === undefined) throw new Error(`our release has no image for ${wanted}`);
    return [{ wanted, present: `${imageRepository}/${part}:v${version}` }];
  });
}

function tagsOf(versions: PartVersions): Pick<KubeadmCluster, 'etcdTag' | 'dnsTag'> {
  return { etcdTag: `v${versions['etcd']}`, dnsTag: `v${versions['coredns']}` };
}

function adminKubeconfig(cluster: string, hostPort: number): string | undefined {
  try {
    const text = readFileSync(`${machinePaths(cluster, 'master-0').upper}${adminFile}`, 'utf8');
    return text.replace(/server: .*/, `server: https://127.0.0.1:${hostPort}`);
  } catch {
    return undefined;
  }
}

export function destroyKubeadm(cluster: string): void {
  execFileSync(launcher, ['machine', 'destroy', '--all', '--cluster', cluster], { stdio: 'ignore' });
}
