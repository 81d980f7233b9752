// What keeps this host from running machines, each with its remedy; a pure function of what was detected,
// so that everything can be named before anything is touched.
import type { HostProblem } from '../platform.ts';
import type { DetectedHost, KernelCapability } from './detected-host.ts';
import { missingPackages } from './packages.ts';

const mebibyte = 1024 ** 2;
/** An idle machine uses about 35 MB; the rest is for what runs on it. */
const memoryBytesPerMachine = 128 * mebibyte;
const memoryBytesBase = 256 * mebibyte;
const diskBytesPerMachine = 256 * mebibyte;
const diskBytesBase = 512 * mebibyte;

const neededCapabilities: readonly KernelCapability[] = ['SYS_ADMIN', 'NET_ADMIN', 'SYS_CHROOT', 'MKNOD'];

export function findHostProblems(detected: DetectedHost, machines: number): readonly HostProblem[] {
  return [
    ...identityProblems(detected),
    ...kernelProblems(detected),
    ...packageProblems(detected),
    ...capacityProblems(detected, machines),
  ];
}

function identityProblems(detected: DetectedHost): readonly HostProblem[] {
  if (!detected.isRoot) {
    return [
      {
        what: 'you are not root',
        remedy: 'Machines need namespaces, mounts and control groups: run the same command with sudo.',
      },
    ];
  }
  const missing = neededCapabilities.filter((name) => !detected.capabilities.includes(name));
  if (missing.length === 0) return [];
  const names = missing.map((name) => `CAP_${name}`).join(', ');
  return [{ what: `root lacks ${names} here`, remedy: `Run on the host itself, or in a container that has ${names}.` }];
}

function kernelProblems(detected: DetectedHost): readonly HostProblem[] {
  const problems: HostProblem[] = [];
  if (!detected.hasOverlayfs) {
    problems.push({ what: 'the kernel has no overlayfs', remedy: 'modprobe overlay, or use a kernel that has it.' });
  }
  if (detected.stateFileSystem === 'overlay') {
    problems.push({
      what: 'the folder for machines lies on an overlayfs, which cannot carry another one',
      remedy: 'Mount a plain disk or volume at /var/lib/firstlight.',
    });
  }
  if (detected.cgroupMounts.length === 0) {
    problems.push({ what: 'no control groups are mounted', remedy: 'mount -t cgroup2 none /sys/fs/cgroup' });
  }
  return problems;
}

function packageProblems(detected: DetectedHost): readonly HostProblem[] {
  const packages = missingPackages(detected.programs);
  if (packages.length === 0) return [];
  const remedy = detected.canInstallPackages
    ? `apt-get install ${packages.join(' ')} (machine commands do it themselves).`
    : `Install what provides them; on Debian: ${packages.join(' ')}.`;
  return [{ what: `packages are missing: ${packages.join(', ')}`, remedy, packages }];
}

function capacityProblems(detected: DetectedHost, machines: number): readonly HostProblem[] {
  // Commands that make no machine (list, stop, destroy) must work on a full disk too.
  if (machines === 0) return [];
  const diskBytes = diskBytesBase + machines * diskBytesPerMachine;
  const memoryBytes = memoryBytesBase + machines * memoryBytesPerMachine;
  const problems: HostProblem[] = [];
  if (detected.freeDiskBytes < diskBytes) {
    problems.push({
      what: `${inMebibytes(detected.freeDiskBytes)} of disk are free, ${machines} machines need ${inMebibytes(diskBytes)}`,
      remedy: 'Free some space on the disk of /var/lib/firstlight.',
    });
  }
  if (detected.availableMemoryBytes < memoryBytes) {
    problems.push({
      what: `${inMebibytes(detected.availableMemoryBytes)} of memory are available, ${machines} machines need ${inMebibytes(memoryBytes)}`,
      remedy: 'Stop something else, or make fewer machines.',
    });
  }
  return problems;
}

export function inMebibytes(bytes: number): string {
  return `${Math.floor(bytes / mebibyte)} MiB`;
}
