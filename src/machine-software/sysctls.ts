// Kernel settings that a node needs, each with its reason. All others stay as the machine has them.

interface Sysctl {
  readonly name: string;
  readonly value: number;
  readonly why: string;
}

export const sysctls: readonly Sysctl[] = [
  { name: 'net.ipv4.ip_forward', value: 1, why: 'pods reach other machines through this one; 0 in a new namespace' },
  { name: 'net.ipv6.conf.all.forwarding', value: 1, why: 'the same for IPv6' },
  { name: 'fs.inotify.max_user_instances', value: 8192, why: 'one per container that follows files; 128 by default' },
  { name: 'fs.inotify.max_user_watches', value: 524288, why: 'the kubelet and log readers watch many files' },
  { name: 'vm.overcommit_memory', value: 1, why: 'the kubelet expects it and would set it itself' },
  { name: 'kernel.panic', value: 10, why: 'the kubelet expects it: a machine that panicked comes back' },
  { name: 'kernel.panic_on_oops', value: 1, why: 'the kubelet expects it: no half-dead kernel under pods' },
];

/** In the format of sysctl.d(5). The leading `-` ignores a setting that does not exist or cannot be written. */
export function sysctlText(): string {
  return sysctls.map(({ name, value, why }) => `# ${why}\n-${name} = ${value}\n`).join('');
}
