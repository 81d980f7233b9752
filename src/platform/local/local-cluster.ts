// A cluster of local machines: what is fixed when it is made, and the lock that lets one command at a time change it.

import { z } from 'zod';
import { defaultMachineNetwork } from '../../contract/addresses.ts';
import type { FolderLock, LockHolder } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import { platformErrors } from '../errors.ts';
import { clusterName } from '../machine.ts';
import { type MachineNetwork, parseMachineNetwork } from './addresses.ts';
import { clusterFile, clusterFolder, machinesFolder, stateFolder, switchFolder } from './cluster-folder.ts';
import type { HostService } from './load-balancer.ts';

const clusterSchema = z.strictObject({
  name: clusterName,
  /** Machines are `<name>.<domain>`, the API is `api.<domain>`. */
  domain: z.string(),
  machineNetwork: z.cidrv4(),
  /** Port on the host's loopback that reaches the API. */
  hostPort: z.int().min(1).max(65_535),
  /** The CoreDNS of the release that machines were last made from. */
  coredns: z.string(),
});

export type LocalCluster = z.infer<typeof clusterSchema>;

export interface ClusterRequest {
  readonly name: string;
  readonly domain?: string;
  readonly machineNetwork?: string;
  readonly coredns: string;
  /** The command, shown by others that have to wait for it. */
  readonly purpose: string;
  readonly signal: AbortSignal;
}

const firstHostPort = 16_443;
const lastHostPort = 60_000;

/** The other ports of the host's loopback have a fixed distance from that of the API: 15000, 18080, 18443 for 16443. */
export function hostPortsOf({ hostPort }: Pick<LocalCluster, 'hostPort'>): Readonly<Record<HostService, number>> {
  return {
    api: hostPort,
    'ingress-http': hostPort + 1_637,
    'ingress-https': hostPort + 2_000,
    'registry-push': hostPort - 1_443,
  };
}

export function networkOf(cluster: LocalCluster): MachineNetwork {
  return parseMachineNetwork(cluster.machineNetwork);
}

export async function readLocalCluster(host: Host, name: string): Promise<LocalCluster | undefined> {
  const content = await host.files.readIfPresent(clusterFile(name));
  if (content === undefined) return undefined;
  return clusterSchema.parse(JSON.parse(Buffer.from(content).toString('utf8')));
}

/** Names of all clusters on this host. */
export async function listClusters(host: Host): Promise<readonly string[]> {
  return (await host.files.list(stateFolder)) ?? [];
}

/** The cluster that exists, or a new one as requested. The caller holds its lock. */
export async function ensureCluster(host: Host, request: ClusterRequest): Promise<LocalCluster> {
  const existing = await readLocalCluster(host, request.name);
  if (existing !== undefined) {
    assertSame(existing, 'domain', request.domain);
    assertSame(existing, 'machineNetwork', request.machineNetwork);
    const updated = { ...existing, coredns: request.coredns };
    if (existing.coredns !== request.coredns) await writeCluster(host, updated);
    return updated;
  }
  // Under a lock of all clusters, so that two that are made at once do not choose the same port.
  await using _ = await takeLock(host, { folder: stateFolder, ...request });
  const cluster: LocalCluster = {
    name: request.name,
    domain: request.domain ?? `${request.name}.firstlight.test`,
    machineNetwork: request.machineNetwork ?? defaultMachineNetwork,
    hostPort: await freePort(host),
    coredns: request.coredns,
  };
  networkOf(cluster);
  await host.files.makeFolder(machinesFolder(cluster.name), { mode: 0o700 });
  await host.files.makeFolder(switchFolder(cluster.name));
  await writeCluster(host, cluster);
  return cluster;
}

async function writeCluster(host: Host, cluster: LocalCluster): Promise<void> {
  await host.files.write(clusterFile(cluster.name), `${JSON.stringify(cluster, null, 2)}\n`);
}

function assertSame(existing: LocalCluster, field: 'domain' | 'machineNetwork', wanted: string | undefined): void {
  if (wanted === undefined || wanted === existing[field]) return;
  throw platformErrors.CLUSTER_DIFFERS({ cluster: existing.name, field, is: existing[field], wanted });
}

/** The API's port of the first set that belongs to no cluster and on none of whose ports a process listens. */
async function freePort(host: Host): Promise<number> {
  const others = await Promise.all((await listClusters(host)).map((name) => readLocalCluster(host, name)));
  const taken = new Set(others.flatMap((cluster) => cluster?.hostPort ?? []));
  const isUsed = (port: number): Promise<boolean> =>
    host.network.probe('127.0.0.1', port, 200).then(
      () => true,
      () => false,
    );
  for (let hostPort = firstHostPort; hostPort < lastHostPort; hostPort += 1) {
    if (taken.has(hostPort)) continue;
    const used = await Promise.all(Object.values(hostPortsOf({ hostPort })).map(isUsed));
    if (!used.includes(true)) return hostPort;
  }
  throw new Error('no free loopback port');
}

const lockPatienceMs = 60_000;
const lockPauseMs = 100;

interface LockRequest {
  readonly folder: string;
  /** The cluster, for the error of a command that waited too long. */
  readonly name: string;
  readonly purpose: string;
  readonly signal: AbortSignal;
}

/** Runs `work` while no other command changes this cluster. The cluster's folder exists meanwhile. */
export async function withClusterLock<T>(
  host: Host,
  options: { readonly cluster: string; readonly purpose: string; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const folder = clusterFolder(options.cluster);
  await using _ = await takeLock(host, { ...options, folder, name: options.cluster });
  return await work();
}

async function takeLock(host: Host, request: LockRequest): Promise<FolderLock> {
  const { folder } = request;
  const endMs = host.clock.monotonicMs() + lockPatienceMs;
  for (;;) {
    await host.files.makeFolder(folder);
    const before = await host.files.facts(folder);
    const taken = before === undefined ? { heldBy: {} } : await host.files.lock(folder, request.purpose);
    if (!('heldBy' in taken)) {
      // The last holder may have removed the folder: then this lock is on a folder that no other command will find.
      if ((await host.files.facts(folder))?.identity === before?.identity) return taken;
      await taken[Symbol.asyncDispose]();
      continue;
    }
    if (host.clock.monotonicMs() > endMs) {
      const seconds = Math.round(lockPatienceMs / 1000);
      throw platformErrors.CLUSTER_BUSY({ cluster: request.name, by: describeHolder(taken.heldBy), seconds });
    }
    await host.clock.sleep(lockPauseMs, request.signal);
  }
}

function describeHolder(holder: LockHolder): string {
  const who = holder.pid === undefined ? 'another command' : `process ${holder.pid}`;
  return holder.purpose === undefined ? who : `${who} (${holder.purpose})`;
}
