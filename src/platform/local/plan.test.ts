// Hosts as a table: what is detected decides everything, so every kind of host can be tried here.
import { describe, expect, test } from 'vitest';
import type { CgroupMount, DetectedHost } from './detected-host.ts';
import { findHostProblems } from './host-problems.ts';
import { hostPrograms } from './packages.ts';
import { type MachinePlan, planMachines } from './plan.ts';

const version1: readonly CgroupMount[] = [
  { path: '/sys/fs/cgroup/cpu,cpuacct', version: 1, controllers: ['cpu', 'cpuacct'] },
  { path: '/sys/fs/cgroup/cpuset', version: 1, controllers: ['cpuset'] },
  { path: '/sys/fs/cgroup/memory', version: 1, controllers: ['memory'] },
  { path: '/sys/fs/cgroup/systemd', version: 1, controllers: ['name=systemd'] },
];
const hybrid: readonly CgroupMount[] = [
  ...version1,
  { path: '/sys/fs/cgroup/unified', version: 2, controllers: ['hugetlb'] },
];
const version2: readonly CgroupMount[] = [
  { path: '/sys/fs/cgroup', version: 2, controllers: ['cpuset', 'cpu', 'io', 'memory', 'pids', 'rdma'] },
];

const gibibyte = 1024 ** 3;
const capable: DetectedHost = {
  kernel: '6.1.0',
  isRoot: true,
  hasHostSystemd: true,
  cgroupMounts: version2,
  capabilities: ['NET_ADMIN', 'SYS_CHROOT', 'SYS_ADMIN', 'SYS_RESOURCE', 'MKNOD'],
  hasOverlayfs: true,
  stateFileSystem: 'ext4',
  programs: Object.fromEntries(hostPrograms.map(({ program }) => [program, `/usr/bin/${program}`])),
  canInstallPackages: true,
  freeDiskBytes: 50 * gibibyte,
  availableMemoryBytes: 16 * gibibyte,
};
const withoutSysResource = capable.capabilities.filter((name) => name !== 'SYS_RESOURCE');

const hosts: readonly (readonly [string, Partial<DetectedHost>, MachinePlan])[] = [
  [
    'a Debian 12 workstation',
    {},
    {
      supervisor: 'systemd-unit',
      cgroup: { kind: 'delegated', version: 2 },
      node: { cgroupVersion: 2, restrictsOomScoreAdj: false },
    },
  ],
  [
    'version 2 without systemd: we hand the controllers down ourselves',
    { hasHostSystemd: false },
    {
      supervisor: 'session',
      cgroup: {
        kind: 'own',
        version: 2,
        mounts: ['/sys/fs/cgroup'],
        controllers: ['cpuset', 'cpu', 'io', 'memory', 'pids'],
      },
      node: { cgroupVersion: 2, restrictsOomScoreAdj: false },
    },
  ],
  [
    'version 1 with systemd: its own two hierarchies stay its own',
    { cgroupMounts: hybrid },
    {
      supervisor: 'systemd-unit',
      cgroup: {
        kind: 'own',
        version: 1,
        mounts: ['/sys/fs/cgroup/cpu,cpuacct', '/sys/fs/cgroup/cpuset', '/sys/fs/cgroup/memory'],
        cpusetMount: '/sys/fs/cgroup/cpuset',
      },
      node: { cgroupVersion: 1, restrictsOomScoreAdj: false },
    },
  ],
  [
    'a small virtual machine: version 1, no systemd, no CAP_SYS_RESOURCE',
    { hasHostSystemd: false, cgroupMounts: hybrid, capabilities: withoutSysResource },
    {
      supervisor: 'session',
      cgroup: {
        kind: 'own',
        version: 1,
        mounts: hybrid.map((mount) => mount.path),
        cpusetMount: '/sys/fs/cgroup/cpuset',
      },
      node: { cgroupVersion: 1, restrictsOomScoreAdj: true },
    },
  ],
  [
    'version 1 without cpuset',
    { hasHostSystemd: false, cgroupMounts: version1.filter((mount) => !mount.controllers.includes('cpuset')) },
    {
      supervisor: 'session',
      cgroup: {
        kind: 'own',
        version: 1,
        mounts: ['/sys/fs/cgroup/cpu,cpuacct', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/systemd'],
      },
      node: { cgroupVersion: 1, restrictsOomScoreAdj: false },
    },
  ],
  [
    'systemd and version 2 without CAP_SYS_RESOURCE',
    { capabilities: withoutSysResource },
    {
      supervisor: 'systemd-unit',
      cgroup: { kind: 'delegated', version: 2 },
      node: { cgroupVersion: 2, restrictsOomScoreAdj: true },
    },
  ],
];

describe('the plan for', () => {
  test.each(hosts)('%s', (_, differences, plan) => {
    expect(planMachines({ ...capable, ...differences })).toEqual(plan);
    expect(findHostProblems({ ...capable, ...differences }, 4)).toEqual([]);
  });
});

describe('before anything is touched it is named that', () => {
  test.each<[string, Partial<DetectedHost>, RegExp, RegExp]>([
    ['somebody else than root asks', { isRoot: false, capabilities: [] }, /not root/, /sudo/],
    [
      'root has too few capabilities',
      { capabilities: ['SYS_ADMIN'] },
      /lacks CAP_NET_ADMIN, CAP_SYS_CHROOT, CAP_MKNOD/,
      /on the host itself/,
    ],
    ['the kernel has no overlayfs', { hasOverlayfs: false }, /no overlayfs/, /modprobe overlay/],
    ['machines would lie on an overlay', { stateFileSystem: 'overlay' }, /cannot carry another one/, /plain disk/],
    ['there are no control groups', { cgroupMounts: [] }, /no control groups/, /mount -t cgroup2/],
    [
      'packages are missing',
      { programs: { ...capable.programs, haproxy: undefined, ip: undefined } },
      /haproxy, iproute2/,
      /apt-get install haproxy iproute2/,
    ],
    [
      'packages are missing and apt is too',
      { programs: {}, canInstallPackages: false },
      /systemd-container/,
      /^Install what provides them/,
    ],
    [
      'the disk is nearly full',
      { freeDiskBytes: gibibyte },
      /1024 MiB of disk are free, 4 machines need 1536 MiB/,
      /Free some space/,
    ],
    [
      'memory is short',
      { availableMemoryBytes: gibibyte / 2 },
      /512 MiB of memory are available, 4 machines need 768 MiB/,
      /fewer machines/,
    ],
  ])('%s', (_, differences, what, remedy) => {
    const problems = findHostProblems({ ...capable, ...differences }, 4);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.what).toMatch(what);
    expect(problems[0]?.remedy).toMatch(remedy);
  });

  test('a full disk does not keep machines from being removed', () => {
    expect(findHostProblems({ ...capable, freeDiskBytes: 0, availableMemoryBytes: 0 }, 0)).toEqual([]);
  });
});
