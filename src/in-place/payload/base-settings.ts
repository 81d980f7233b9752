// What stage A gives a machine besides packages, as a table: files with their reasons, rights of files that exist,
// units to enable. All of it takes effect with the reboot that follows, so nothing is reloaded. It never closes the
// door by which an operator came in, and never takes away what Kubernetes needs (forwarding, for one).
import type { BaseStep } from './payload-steps.ts';

export interface BaseFile {
  readonly step: BaseStep;
  readonly path: string;
  readonly mode: number;
  readonly why: string;
  readonly lines: readonly string[];
}

interface KernelSetting {
  readonly name: string;
  readonly value: string | number;
}

/** CIS Distribution Independent Linux, section 3: a host that forwards for its pods and believes no stranger. */
const networkSettings: readonly KernelSetting[] = [
  { name: 'net.ipv4.conf.all.send_redirects', value: 0 },
  { name: 'net.ipv4.conf.default.send_redirects', value: 0 },
  { name: 'net.ipv4.conf.all.accept_source_route', value: 0 },
  { name: 'net.ipv4.conf.default.accept_source_route', value: 0 },
  { name: 'net.ipv4.conf.all.accept_redirects', value: 0 },
  { name: 'net.ipv4.conf.default.accept_redirects', value: 0 },
  { name: 'net.ipv4.conf.all.secure_redirects', value: 0 },
  { name: 'net.ipv4.conf.all.log_martians', value: 1 },
  { name: 'net.ipv4.icmp_echo_ignore_broadcasts', value: 1 },
  { name: 'net.ipv4.icmp_ignore_bogus_error_responses', value: 1 },
  { name: 'net.ipv4.tcp_syncookies', value: 1 },
  { name: 'net.ipv6.conf.all.accept_redirects', value: 0 },
  { name: 'net.ipv6.conf.default.accept_redirects', value: 0 },
  { name: 'kernel.randomize_va_space', value: 2 },
  { name: 'kernel.dmesg_restrict', value: 1 },
  { name: 'kernel.yama.ptrace_scope', value: 1 },
  { name: 'fs.suid_dumpable', value: 0 },
];

const performanceSettings: readonly KernelSetting[] = [
  { name: 'fs.file-max', value: 2_097_152 },
  { name: 'fs.aio-max-nr', value: 1_048_576 },
  { name: 'kernel.pid_max', value: 4_194_304 },
  { name: 'kernel.threads-max', value: 1_048_576 },
  { name: 'net.core.somaxconn', value: 32_768 },
  { name: 'net.core.netdev_max_backlog', value: 16_384 },
  { name: 'net.ipv4.ip_local_port_range', value: '10240 60999' },
  { name: 'net.ipv4.tcp_max_syn_backlog', value: 8_192 },
  { name: 'net.ipv4.neigh.default.gc_thresh2', value: 8_192 },
  { name: 'net.ipv4.neigh.default.gc_thresh3', value: 16_384 },
  { name: 'vm.max_map_count', value: 262_144 },
  { name: 'vm.swappiness', value: 0 },
];

/** The leading `-` ignores a setting that does not exist here or cannot be written. */
function sysctlLines(settings: readonly KernelSetting[]): readonly string[] {
  return settings.map(({ name, value }) => `-${name} = ${value}`);
}

const unusedFilesystems = ['cramfs', 'freevxfs', 'hfs', 'hfsplus', 'jffs2', 'udf', 'usb-storage'];

const auditedCalls: readonly string[] = [
  '-w /etc/kubernetes -p wa -k kubernetes',
  '-w /etc/containerd -p wa -k kubernetes',
  '-w /var/lib/kubelet -p wa -k kubernetes',
  '-w /etc/passwd -p wa -k identity',
  '-w /etc/group -p wa -k identity',
  '-w /etc/shadow -p wa -k identity',
  '-w /etc/sudoers -p wa -k scope',
  '-w /etc/sudoers.d -p wa -k scope',
  '-w /etc/ssh/sshd_config -p wa -k sshd',
  '-a always,exit -F arch=b64 -S adjtimex,settimeofday,clock_settime -k time-change',
  '-a always,exit -F arch=b64 -S init_module,finit_module,delete_module -k modules',
  '-a always,exit -F arch=b64 -S mount,umount2 -F auid>=1000 -F auid!=unset -k mounts',
];

export const baseFiles: readonly BaseFile[] = [
  {
    step: 'hardening',
    path: '/etc/sysctl.d/60-ipb-hardening.conf',
    mode: 0o644,
    why: 'CIS 1.5 and 3.x: no redirects, no source routes, no core dumps of privileged programs.',
    lines: sysctlLines(networkSettings),
  },
  {
    step: 'hardening',
    path: '/etc/modprobe.d/60-ipb-hardening.conf',
    mode: 0o644,
    why: 'CIS 1.1.1: file systems that no node mounts cannot be loaded.',
    lines: unusedFilesystems.flatMap((name) => [`install ${name} /bin/false`, `blacklist ${name}`]),
  },
  {
    step: 'hardening',
    path: '/etc/security/limits.d/60-ipb-hardening.conf',
    mode: 0o644,
    why: 'CIS 1.5.1: no core dumps.',
    lines: ['* hard core 0'],
  },
  {
    step: 'hardening',
    path: '/etc/ssh/sshd_config.d/60-ipb-hardening.conf',
    mode: 0o600,
    why: 'CIS 5.2. Root keeps its key: whoever adopts a machine may come in by it.',
    lines: [
      'PermitRootLogin prohibit-password',
      'PermitEmptyPasswords no',
      'IgnoreRhosts yes',
      'HostbasedAuthentication no',
      'X11Forwarding no',
      'MaxAuthTries 4',
      'MaxSessions 10',
      'LoginGraceTime 60',
      'ClientAliveInterval 300',
      'ClientAliveCountMax 3',
    ],
  },
  {
    step: 'hardening',
    path: '/etc/audit/rules.d/60-ipb.rules',
    mode: 0o640,
    why: 'CIS 4.1: who changed identities, the clock, modules, mounts and the files of Kubernetes.',
    lines: auditedCalls,
  },
  {
    step: 'logging',
    path: '/etc/rsyslog.d/60-ipb.conf',
    mode: 0o644,
    why: 'CIS 4.2.1: what the bootstrapper, the kubelet and the runtime say is kept in a file of its own.',
    lines: [
      '$FileCreateMode 0640',
      `:programname, isequal, "kubelet" /var/log/kubelet.log`,
      `:programname, isequal, "containerd" /var/log/containerd.log`,
      `:programname, startswith, "ipb-" /var/log/ipb.log`,
    ],
  },
  {
    step: 'logging',
    path: '/etc/logrotate.d/ipb',
    mode: 0o644,
    why: 'CIS 4.3: no log fills the disk.',
    lines: [
      '/var/log/kubelet.log /var/log/containerd.log /var/log/ipb.log {',
      '  daily',
      '  rotate 7',
      '  maxsize 100M',
      '  compress',
      '  delaycompress',
      '  missingok',
      '  notifempty',
      '  copytruncate',
      '}',
    ],
  },
  {
    step: 'logging',
    path: '/etc/systemd/journald.conf.d/60-ipb.conf',
    mode: 0o644,
    why: 'CIS 4.2.2: the journal is kept over reboots, compressed and bounded.',
    lines: ['[Journal]', 'Storage=persistent', 'Compress=yes', 'SystemMaxUse=1G'],
  },
  {
    step: 'sysctls',
    path: '/etc/sysctl.d/80-ipb-performance.conf',
    mode: 0o644,
    why: 'Many containers on one machine: files, processes, connections, neighbours.',
    lines: sysctlLines(performanceSettings),
  },
];

/** CIS 5.1 and 5.2.1: rights of what exists; nothing is made. */
export const baseRights: readonly { readonly path: string; readonly mode: number }[] = [
  { path: '/etc/crontab', mode: 0o600 },
  { path: '/etc/cron.hourly', mode: 0o700 },
  { path: '/etc/cron.daily', mode: 0o700 },
  { path: '/etc/cron.weekly', mode: 0o700 },
  { path: '/etc/cron.monthly', mode: 0o700 },
  { path: '/etc/cron.d', mode: 0o700 },
  { path: '/etc/ssh/sshd_config', mode: 0o600 },
];

/** Enabled where the machine has them; they start with the reboot. */
export const baseUnits = ['rsyslog.service', 'logrotate.timer'] as const;

export type PackageManager = 'apt' | 'dnf';

export const basePackages: Readonly<Record<PackageManager, readonly string[]>> = {
  apt: ['rsyslog', 'logrotate'],
  dnf: ['rsyslog', 'logrotate'],
};

/** Not in a container: the kernel audits as a whole, and the daemon would fail there at every boot. */
export const auditPackages: Readonly<Record<PackageManager, readonly string[]>> = { apt: ['auditd'], dnf: ['audit'] };
export const auditUnit = 'auditd.service';

/** What brings the programs of a node to a machine whose image does not have them. */
export const nodePackages: readonly string[] = ['firstlight-node'];

export function baseFileText({ path, why, lines }: BaseFile): string {
  // A unit's settings file must begin with its section or a comment; both know this comment.
  return [
    `# ${why}`,
    `# Written by the in-place bootstrapper; ${path} is replaced by the next payload.`,
    ...lines,
    '',
  ].join('\n');
}
