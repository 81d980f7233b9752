// What this host is, as facts. Nothing is decided here: plan.ts and host-problems.ts do that, as pure functions of
// these facts.
import { runtimeUnitFolder } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import { hostPrograms } from './packages.ts';

export interface CgroupMount {
  readonly path: string;
  readonly version: 1 | 2;
  /** Controllers (or `name=systemd`) of a version 1 hierarchy; the available ones of version 2. */
  readonly controllers: readonly string[];
}

export interface DetectedHost {
  readonly kernel: string;
  readonly isRoot: boolean;
  /** Is systemd the init of this host? It then owns the cgroup tree. */
  readonly hasHostSystemd: boolean;
  readonly cgroupMounts: readonly CgroupMount[];
  /** Effective capabilities among those that matter here. */
  readonly capabilities: readonly KernelCapability[];
  readonly hasOverlayfs: boolean;
  /** File system that will hold the machines' folders. */
  readonly stateFileSystem: string;
  /** Path of each program that machines need, or undefined. */
  readonly programs: Readonly<Record<string, string | undefined>>;
  readonly canInstallPackages: boolean;
  readonly freeDiskBytes: number;
  readonly availableMemoryBytes: number;
}

/** Bit numbers of linux/capability.h. */
const capabilityBits = { NET_ADMIN: 12, SYS_CHROOT: 18, SYS_ADMIN: 21, SYS_RESOURCE: 24, MKNOD: 27 } as const;
export type KernelCapability = keyof typeof capabilityBits;

export async function detectHost(host: Host, stateFolder: string): Promise<DetectedHost> {
  const { files, processes } = host;
  const text = async (path: string): Promise<string> =>
    Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array()).toString('utf8');
  const mounts = parseMounts(await text('/proc/self/mountinfo'));
  const existing = await nearestExisting(host, stateFolder);
  const programs = hostPrograms.map(async ({ program }) => [program, await processes.find(program)] as const);
  const unified = mounts.find((mount) => mount.type === 'cgroup2');
  const unifiedControllers = unified === undefined ? '' : await text(`${unified.path}/cgroup.controllers`);
  const kernel = (await text('/proc/sys/kernel/osrelease')).trim();
  return {
    kernel,
    isRoot: host.environment.uid === 0,
    hasHostSystemd: (await files.facts(runtimeUnitFolder)) !== undefined,
    cgroupMounts: cgroupMounts(mounts, unifiedControllers),
    capabilities: parseCapabilities(await text('/proc/self/status')),
    // The kernel loads the module by itself when the first overlay is mounted.
    hasOverlayfs:
      /\boverlay$/m.test(await text('/proc/filesystems')) ||
      (await files.facts(`/lib/modules/${kernel}/kernel/fs/overlayfs`)) !== undefined,
    stateFileSystem: fileSystemOf(mounts, existing),
    programs: Object.fromEntries(await Promise.all(programs)),
    canInstallPackages: (await processes.find('apt-get')) !== undefined,
    freeDiskBytes: await files.freeBytes(existing),
    availableMemoryBytes: parseAvailableMemory(await text('/proc/meminfo')),
  };
}

interface Mount {
  readonly path: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** proc(5), mountinfo: `id parent dev root PATH options … - TYPE source SUPEROPTIONS`. */
export function parseMounts(mountinfo: string): readonly Mount[] {
  return mountinfo
    .split('\n')
    .filter((line) => line.includes(' - '))
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ');
      const [type = '', , options = ''] = after.split(' ');
      const path = (before.split(' ')[4] ?? '').replaceAll(/\\(\d{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      );
      return { path, type, options: options.split(',') };
    });
}

const cgroupControllers = [
  'cpu',
  'cpuacct',
  'cpuset',
  'memory',
  'devices',
  'freezer',
  'blkio',
  'pids',
  'net_cls',
  'net_prio',
  'perf_event',
  'hugetlb',
  'misc',
  'rdma',
];

export function cgroupMounts(mounts: readonly Mount[], unifiedControllers: string): readonly CgroupMount[] {
  return mounts.flatMap((mount): CgroupMount[] => {
    if (mount.type === 'cgroup2') {
      const controllers = unifiedControllers.split(/\s+/).filter((name) => name !== '');
      return [{ path: mount.path, version: 2, controllers }];
    }
    if (mount.type !== 'cgroup') return [];
    const isController = (option: string): boolean => cgroupControllers.includes(option) || option.startsWith('name=');
    return [{ path: mount.path, version: 1, controllers: mount.options.filter(isController) }];
  });
}

export function parseCapabilities(status: string): readonly KernelCapability[] {
  const hex = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
  const bits = BigInt(`0x${hex}`);
  const names = Object.keys(capabilityBits) as KernelCapability[];
  return names.filter((name) => (bits >> BigInt(capabilityBits[name])) % 2n === 1n);
}

export function parseAvailableMemory(meminfo: string): number {
  return Number(/^MemAvailable:\s*(\d+) kB$/m.exec(meminfo)?.[1] ?? 0) * 1024;
}

/** The type of the file system that holds `path`: the longest mount point above it, the last one mounted there. */
export function fileSystemOf(mounts: readonly Mount[], path: string): string {
  const above = mounts.filter(
    (mount) => mount.path === '/' || path === mount.path || path.startsWith(`${mount.path}/`),
  );
  const longest = Math.max(...above.map((mount) => mount.path.length));
  return above.findLast((mount) => mount.path.length === longest)?.type ?? 'unknown';
}

async function nearestExisting(host: Host, path: string): Promise<string> {
  let current = path;
  while (current !== '/' && (await host.files.facts(current)) === undefined) {
    current = current.slice(0, Math.max(1, current.lastIndexOf('/')));
  }
  return current;
}
