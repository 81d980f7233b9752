// An agent on a machine in memory: its disk, its programs and what it sees of the cluster are plain values of a test.
import { inventoryConfigMap, inventoryKey } from '../../src/contract/cluster-objects.ts';
import { releaseFile } from '../../src/contract/machine-paths.ts';
import type { NodeRole } from '../../src/contract/machine-role.ts';
import { openTimeline } from '../../src/contract/timeline.ts';
import type { EtcdClient, EtcdClients } from '../../src/etcd/client.ts';
import type { ClusterId, Member, MemberId } from '../../src/etcd/member.ts';
import { type FakeHost, type FakeHostOptions, fakeHost } from '../../src/host/fake/fake-host.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { ClusterView } from '../../src/membership/cluster-view.ts';
import type { Agent } from '../../src/node/agent-context.ts';
import { BackgroundTasks } from '../../src/node/background-tasks.ts';
import { agentErrors } from '../../src/node/errors.ts';
import { Doorbell } from '../../src/workflow/doorbell.ts';

export interface FakeAgent extends Agent {
  readonly host: FakeHost;
  /** Programs that were run, as command lines. */
  readonly commands: string[];
  readonly logged: string[];
  /** What the members of etcd list; undefined while none answers. */
  members: readonly Member[] | undefined;
}

export interface FakeAgentOptions extends FakeHostOptions {
  readonly role?: NodeRole;
  /** The output of a program; its absence is an empty one. */
  readonly output?: (commandLine: string) => string;
}

export const controlPlane = {
  clusterName: 'demo',
  clusterId: 'c1',
  domain: 'demo.firstlight.test',
  serviceAddresses: ['172.30.0.1'],
  apiVips: [],
  serviceNetwork: '172.30.0.0/16',
  podNetwork: '10.128.0.0/14',
  podPrefix: 23,
  masters: 3,
};

export const inventory = {
  isClosed: true,
  machines: [
    { name: 'bootstrap', role: 'bootstrap', addresses: ['10.99.0.10'] },
    ...[0, 1, 2].map((n) => ({ name: `master-${n}`, role: 'master', addresses: [`10.99.0.${11 + n}`] })),
    { name: 'worker-0', role: 'worker', addresses: ['10.99.0.21'] },
  ],
} as const;

export function inventoryObject(): KubernetesObject {
  const { apiVersion, kind, name, namespace } = inventoryConfigMap;
  return { apiVersion, kind, metadata: { name, namespace }, data: { [inventoryKey]: JSON.stringify(inventory) } };
}

export function nodeObject(name: string, address: string, podRanges: readonly string[]): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: podRanges.length === 0 ? {} : { podCIDRs: podRanges },
    status: {
      addresses: [
        { type: 'Hostname', address: name },
        { type: 'InternalIP', address },
      ],
    },
  };
}

export const clusterId = 'cafe' as ClusterId;

export function member(
  name: string,
  change: Partial<Omit<Member, 'id'>> & { readonly id: string; readonly address: string },
): Member {
  const { id, address, ...rest } = change;
  return {
    id: id as MemberId,
    name,
    peerUrls: [`https://${address}:2380`],
    clientUrls: name === '' ? [] : [`https://${address}:2379`],
    isLearner: false,
    ...rest,
  };
}

export function fakeAgent(options: FakeAgentOptions = {}): FakeAgent {
  const { role = 'master', output = () => '' } = options;
  const commands: string[] = [];
  const logged: string[] = [];
  const host = fakeHost({
    ...options,
    processes: {
      run: async (program, args) => {
        const line = [program, ...args].join(' ');
        commands.push(line);
        return { code: 0, signal: undefined, stdout: output(line), stderr: '', timedOut: false };
      },
      ...options.processes,
    },
  });
  const doorbell = new Doorbell();
  const { signal } = new AbortController();
  const agent: FakeAgent = {
    host,
    commands,
    logged,
    members: undefined,
    node: role === 'master' ? master : { name: 'worker-0', addresses: ['10.99.0.21'], role },
    apiServerUrl: 'https://api-int.demo.firstlight.test:6443',
    controlPlane: role === 'master' ? controlPlane : undefined,
    machineNetworks: ['10.99.0.0/24'],
    podRoutes: controlPlane,
    doorbell,
    background: new BackgroundTasks(host.clock, signal, () => doorbell.ring()),
    cluster: new ClusterView(),
    signal,
    api: async () => {
      throw agentErrors.NO_IDENTITY({ path: 'a test' });
    },
    etcd: async () => membersOf(() => agent.members),
    kept: host.network,
    identity: 'master-1_test',
    log: (line) => logged.push(line),
    timeline: openTimeline(host, 'agent'),
  };
  return agent;
}

const master = { name: 'master-1', addresses: ['10.99.0.12'], role: 'master' } as const;

/** The release of the machine; without it no pod can be written. */
export async function putRelease({ host }: FakeAgent): Promise<void> {
  const manifest = {
    parts: [{ name: 'etcd', version: '3.7.3' }],
    imageVariables: { ETCD_IMAGE: { reference: 'r/etcd@sha256:1' }, HYPERKUBE_IMAGE: { reference: 'r/kube@sha256:2' } },
  };
  await host.files.makeFolder('/usr/local/share/firstlight');
  await host.files.write(releaseFile, JSON.stringify(manifest));
  await host.files.makeFolder('/etc/kubernetes/manifests');
}

function membersOf(listed: () => readonly Member[] | undefined): EtcdClients {
  const failed = { status: 'failed', call: '', url: '', outcome: 'unreachable', said: 'nobody answers' } as const;
  const client: Pick<EtcdClient, 'memberList' | 'status'> = {
    memberList: async () => {
      const members = listed();
      return members === undefined ? failed : { status: 'ok', value: { clusterId, members } };
    },
    status: async () => (listed() === undefined ? failed : { status: 'ok', value: {} as never }),
  };
  return { at: (url) => ({ url, ...client }) as EtcdClient, [Symbol.dispose]: () => {} };
}

/** A data folder with the log of a member, as etcd begins it. */
export async function putEtcdData(
  { host }: FakeAgent,
  ids: { readonly member: string; readonly cluster: string },
): Promise<void> {
  const varint = (value: bigint): number[] => {
    const bytes: number[] = [];
    for (let rest = value; ; rest >>= 7n) {
      if (rest < 0x80n) return [...bytes, Number(rest)];
      bytes.push(Number(rest & 0x7fn) | 0x80);
    }
  };
  const metadata = [0x08, ...varint(BigInt(`0x${ids.member}`)), 0x10, ...varint(BigInt(`0x${ids.cluster}`))];
  const record = [0x08, 1, 0x10, 0, 0x1a, metadata.length, ...metadata];
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(record.length));
  await host.files.makeFolder('/var/lib/etcd/member/wal');
  await host.files.write('/var/lib/etcd/member/wal/0.wal', Buffer.concat([length, Buffer.from(record)]));
}
