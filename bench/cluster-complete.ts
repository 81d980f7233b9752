// When a cluster counts as there, the same question for every contestant: all masters are Ready nodes, exactly they vote
// in etcd, CoreDNS is available, kube-proxy on each of them says that it is healthy. Asked from outside.
import { execFileSync } from 'node:child_process';
import type { Host } from '../src/host/host.ts';
import { connectKubernetes, type KubernetesClient } from '../src/kubernetes/client.ts';
import type { KubernetesObject } from '../src/kubernetes/object.ts';
import { machineNamespace } from '../src/platform/local/cluster-folder.ts';
import { enterCommand } from '../src/platform/local/enter-command.ts';
import { findProcesses } from '../src/platform/local/observe-machines.ts';

export interface Complete {
  readonly host: Host;
  /** The platform's name of the cluster. */
  readonly cluster: string;
  readonly masters: readonly string[];
  readonly workers: readonly string[];
  /** Text of a kubeconfig that works from this host; undefined while there is none. */
  readonly kubeconfig: () => string | undefined;
  /** Files on a master: authority, certificate and key of a client of etcd. */
  readonly etcdFiles: { readonly ca: string; readonly certificate: string; readonly key: string };
}

const pauseMs = 100;
const deadlineMs = 300_000;

/** Resolves with the time at which everything held. */
export async function waitUntilComplete(options: Complete): Promise<number> {
  const endMs = Date.now() + deadlineMs;
  let missing = 'a kubeconfig';
  for (;;) {
    const text = options.kubeconfig();
    if (text !== undefined) {
      missing = await whatIsMissing(options, text).catch((error: unknown) => String(error));
      if (missing === '') return Date.now();
    }
    if (Date.now() > endMs) throw new Error(`${options.cluster} does not become complete: ${missing}`);
    await new Promise((wake) => setTimeout(wake, pauseMs));
  }
}

async function whatIsMissing(options: Complete, text: string): Promise<string> {
  await using client = await connectKubernetes(options.host, { text });
  const nodes = await missingNodes(client, [...options.masters, ...options.workers]);
  if (nodes !== '') return nodes;
  const dns = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kube-system', name: 'coredns' };
  if (!hasCondition(await client.find(dns, call), 'Available')) return 'CoreDNS';
  const sick = [...options.masters, ...options.workers].filter((machine) => !isProxyHealthy(options.cluster, machine));
  if (sick.length > 0) return `kube-proxy of ${sick.join(', ')}`;
  return missingVoters(options);
}

const call = { deadlineMs: 2_000 };

async function missingNodes(client: KubernetesClient, expected: readonly string[]): Promise<string> {
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Node' }, {}, call);
  const ready = items.filter((node) => hasCondition(node, 'Ready')).map(({ metadata }) => metadata.name);
  const missing = expected.filter((name) => !ready.includes(name));
  return missing.length === 0 ? '' : `nodes ${missing.join(', ')}`;
}

function hasCondition(object: KubernetesObject | undefined, wanted: string): boolean {
  const { conditions = [] } = (object?.['status'] ?? {}) as {
    conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.some(({ type, status }) => type === wanted && status === 'True');
}

function isProxyHealthy(cluster: string, machine: string): boolean {
  const namespace = `--net=/run/netns/${machineNamespace(cluster, machine)}`;
  const ask = [
    'curl',
    '--silent',
    '--fail',
    '--max-time',
    '2',
    '--output',
    '/dev/null',
    'http://127.0.0.1:10256/healthz',
  ];
  try {
    execFileSync('nsenter', [namespace, ...ask], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface ListedMember {
  readonly name?: string;
  readonly isLearner?: boolean;
}

async function missingVoters({ host, cluster, masters, etcdFiles }: Complete): Promise<string> {
  const [first = ''] = masters;
  const { leader } = await findProcesses(host, cluster, first);
  if (leader === undefined) return `machine ${first}`;
  const { ca, certificate, key } = etcdFiles;
  const tls = ['--cacert', ca, '--cert', certificate, '--key', key];
  const list = ['etcdctl', '--endpoints', 'https://127.0.0.1:2379', ...tls, 'member', 'list', '--write-out=json'];
  const [program, ...args] = enterCommand(leader, list);
  const text = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const { members } = JSON.parse(text) as { readonly members: readonly ListedMember[] };
  const voters = members.filter(({ isLearner }) => isLearner !== true).map(({ name = '' }) => name);
  const isExact = voters.length === masters.length && masters.every((name) => voters.includes(name));
  return isExact ? '' : `voters are ${voters.join(', ')}`;
}
