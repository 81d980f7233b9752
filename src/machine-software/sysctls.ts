// Kernel settings that a node needs, each with its reason. All others stay as the machine has them.

interface Sysctl {
  readonly name: string;
  readonly value: number;
  readonly why: string;
  /** The kubelet sets it at its start, or refuses to start when it may not set it and the value differs. */
  readonly isKubeletDefault?: true;
}

export const sysctls: readonly Sysctl[] = [
  { name: 'net.ipv4.ip_forward', value: 1, why: 'pods reach other machines through this one; 0 in a new namespace' },
  { name: 'net.ipv6.conf.all.forwarding', value: 1, why: 'the same for IPv6' },
  { name: 'fs.inotify.max_user_instances', value: 8192, why: 'one per container that follows files; 128 by default' },
  { name: 'fs.inotify.max_user_watches', value: 524288, why: 'the kubelet and log readers watch many files' },
  kubeletDefault('vm.overcommit_memory', 1, 'a container is ended by its own limit, not by a failed allocation'),
  kubeletDefault('vm.panic_on_oom', 0, 'when memory is short a process ends, not the machine'),
  kubeletDefault('kernel.panic', 10, 'a machine that panicked comes back'),
  kubeletDefault('kernel.panic_on_oops', 1, 'no half-dead kernel under pods'),
  kubeletDefault('kernel.keys.root_maxkeys', 1_000_000, 'every container may have a key ring'),
  kubeletDefault('kernel.keys.root_maxbytes', 25_000_000, 'the same: 25 bytes for each key'),
];

function kubeletDefault(name: string, value: number, why: string): Sysctl {
  return { name, value, why: `the kubelet expects it: ${why}`, isKubeletDefault: true };
}

/** In the format of sysctl.d(5). The leading `-` ignores a setting that does not exist or cannot be written. */
export function sysctlText(): string {
  return sysctls.map(({ name, value, why }) => `# ${why}\n-${name} = ${value}\n`).join('');
}

/** Where the kernel shows a setting. */
export function sysctlPath(name: string): string {
  return `/proc/sys/${name.replaceAll('.', '/')}`;
}
