// Makes a log bundle of the cluster of an asset folder: finds its machines and the ways to them, and the sources of all
// the rest. Machines on this host are looked at from inside, or by their disks where they are stopped; others by SSH.
import { join } from 'node:path';
import { ownFolder } from '../contract/asset-folder.ts';
import type { InventoryMachine } from '../contract/inventory.ts';
import { missingText } from '../contract/missing.ts';
import type { Reason } from '../diagnose/diagnose.ts';
import { newBundleId, writeLogBundle } from '../gather/bundle-archive.ts';
import type { BundleAbout } from '../gather/bundle-facts.ts';
import type { GatheredDiagnosis } from '../gather/cluster-wide/cluster-collector.ts';
import { gatherErrors } from '../gather/errors.ts';
import { gather } from '../gather/gather.ts';
import type { GatheredMachine } from '../gather/machine/gathered-machine.ts';
import { type BundleSummary, summarizeBundle } from '../gather/summarize-bundle.ts';
import type { Host } from '../host/host.ts';
import { connectCluster } from './cluster-kubeconfig.ts';
import { missingNow } from './cluster-missing.ts';
import { clusterWaterfall } from './cluster-waterfall.ts';
import { explainStall } from './explain-stall.ts';
import { type FoundCluster, mustFindCluster } from './find-cluster.ts';
import { sshCommand } from './in-place/ssh.ts';
import { observeCluster } from './observe-cluster.ts';

export interface GatherCluster {
  readonly host: Host;
  readonly dir: string;
  readonly signal: AbortSignal;
  /** The bootstrap machine and the masters, or every machine. */
  readonly scope: 'bootstrap' | 'all';
  readonly ssh: GatherSsh;
  /** As a person typed it. */
  readonly command: string;
  /** Of firstlight. */
  readonly version: string;
  readonly timeoutMs: number;
  /** What a command failed with, and the reasons that it found. */
  readonly failure?: NonNullable<BundleAbout['failure']> & { readonly reasons?: readonly Reason[] };
  readonly report: (text: string) => void;
}

export interface GatherSsh {
  /** Addresses by role; where there are any, only those are looked at. */
  readonly addresses: Readonly<Record<'bootstrap' | 'master' | 'worker', readonly string[]>>;
  readonly user: string;
  readonly keyFile: string | undefined;
}

export const noAddresses: GatherSsh['addresses'] = { bootstrap: [], master: [], worker: [] };

export interface MadeBundle {
  readonly path: string;
  readonly files: number;
  readonly summary: BundleSummary;
}

/** Packing is done within this time. */
const packMs = 3_000;

export async function gatherCluster(options: GatherCluster): Promise<MadeBundle> {
  const { host, dir, signal, timeoutMs } = options;
  const cluster = await mustFindCluster(host, dir);
  const machines = await machinesOf(options, cluster);
  const now = host.clock.now();
  const id = await newBundleId(host.files, dir, now);
  const content = await gather({
    host,
    dir,
    machines,
    signal,
    about: aboutOf(options, cluster, { id, now }),
    connect: () => connectCluster(host, dir),
    diagnose: () => diagnosisOf(options, cluster),
    waterfall: () => clusterWaterfall(host, dir),
    collectMs: Math.max(1_000, timeoutMs - packMs),
    report: options.report,
  });
  const path = await writeLogBundle(host.files, content, { dir, id, now });
  return { path, files: content.size, summary: summarizeBundle(content) };
}

function aboutOf(
  { command, version, failure }: GatherCluster,
  cluster: FoundCluster,
  { id, now }: { readonly id: string; readonly now: Date },
): BundleAbout {
  return {
    id,
    cluster: cluster.clusterName,
    infraId: cluster.name,
    platform: cluster.platform.name,
    version,
    command,
    madeAt: now.toISOString(),
    ...(failure === undefined ? {} : { failure: { code: failure.code, message: failure.message } }),
  };
}

/** What the failed command found out already is not looked for again: its machines are busy enough. */
async function diagnosisOf(options: GatherCluster, cluster: FoundCluster): Promise<GatheredDiagnosis> {
  const { host, dir, signal, failure } = options;
  const missing = missingNow(await observeCluster(host, cluster));
  const reasons = failure?.reasons ?? (await explainStall({ host, dir, signal }, missing)).reasons;
  return { reasons, missing: missing.map(missingText) };
}

async function machinesOf(options: GatherCluster, cluster: FoundCluster): Promise<readonly GatheredMachine[]> {
  const { scope, dir } = options;
  const found = await knownMachines(options, cluster);
  const machines = found.filter(({ role }) => scope === 'all' || role !== 'worker');
  if (scope === 'bootstrap' && machines.every(({ role }) => role !== 'bootstrap')) {
    throw gatherErrors.NO_BOOTSTRAP({ dir });
  }
  return machines;
}

async function knownMachines(options: GatherCluster, cluster: FoundCluster): Promise<readonly GatheredMachine[]> {
  const { addresses } = options.ssh;
  const named = (['bootstrap', 'master', 'worker'] as const).flatMap((role) =>
    addresses[role].map((address): InventoryMachine => {
      const known = cluster.inventory.machines.find((machine) => machine.addresses.includes(address));
      return { name: known?.name ?? address.replaceAll(':', '-'), role, addresses: [address] };
    }),
  );
  if (named.length > 0) return named.map((machine) => reachedBySsh(options, cluster, machine));
  const own = await ownMachines(cluster);
  if (own.length > 0) return own;
  return cluster.inventory.machines.map((machine) => reachedBySsh(options, cluster, machine));
}

/** Those on this host. */
async function ownMachines(cluster: FoundCluster): Promise<readonly GatheredMachine[]> {
  const { platform, name: clusterName } = cluster;
  const running = await platform.observeProcesses(clusterName);
  return (await platform.listMachines(clusterName)).map(({ name: machine, role, address }): GatheredMachine => {
    const key = { cluster: clusterName, machine };
    const { commandInside, logCommand } = platform;
    const isRunning = running.machines.has(machine);
    return {
      name: machine,
      role,
      address,
      state: isRunning ? 'running' : 'stopped',
      ...(isRunning && commandInside !== undefined ? { shell: () => commandInside(key, { command: ['sh'] }) } : {}),
      ...(logCommand === undefined
        ? {}
        : {
            outside: {
              files: platform.filesOf(key),
              journal: (units, lines) =>
                logCommand(key, { source: 'journal', units, lines, isFollowing: false, format: 'short-precise' }),
              console: () =>
                logCommand(key, {
                  source: 'console',
                  units: [],
                  lines: 5_000,
                  isFollowing: false,
                  format: 'short-precise',
                }),
            },
          }),
    };
  });
}

const shellAsRoot = 'if [ "$(id -u)" = 0 ]; then exec sh; else exec sudo -n sh; fi';

function reachedBySsh({ dir, ssh }: GatherCluster, cluster: FoundCluster, machine: InventoryMachine): GatheredMachine {
  const { name, role, addresses } = machine;
  const [address = name] = addresses;
  const { user, keyFile } = ssh;
  const { platform, placed } = cluster;
  const command = sshCommand(
    {
      address,
      user,
      ...(keyFile === undefined ? {} : { keyFile }),
      knownHostsFile: join(dir, ownFolder, 'known_hosts'),
      inNetwork: (own) => own,
    },
    shellAsRoot,
  );
  const inNetwork = placed === undefined ? undefined : platform.commandInNetwork;
  return {
    name,
    role,
    address,
    state: 'by SSH',
    shell: async () => inNetwork?.(cluster.name, command) ?? command,
  };
}
