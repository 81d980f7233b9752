// What is added to a plain Debian for our machines: the packages, the units that may run, the configuration of SSH.
// Every line is a decision; `debian.ts` only carries them out.

export const debianPackages: readonly string[] = [
  // boot and supervision
  'systemd',
  'systemd-sysv',
  'dbus',
  'kmod',
  'procps',
  // called by the kubelet, kube-proxy and the CNI plugins; netbase has /etc/protocols, which nft needs
  'iproute2',
  'iptables',
  'nftables',
  'conntrack',
  'ethtool',
  'socat',
  'netbase',
  'ca-certificates',
  'runc',
  // libraries of the Node runtime that are not in Debian's minimum
  'libatomic1',
  'libstdc++6',
  // for the user core, who logs in with a key and becomes root without a password
  'openssh-server',
  'sudo',
];

/** Enabled on every machine. Other units are disabled, unless Ignition's preset, which is read first, enables them. */
const enabledUnits = ['ssh.socket', 'systemd-tmpfiles-clean.timer'];

/** Never started, not even as a dependency: timers that cost CPU time, and consoles that nobody uses. */
export const maskedUnits: readonly string[] = [
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
  'fstrim.timer',
  'systemd-pstore.service',
  'systemd-networkd.service',
  'systemd-network-generator.service',
  'getty.target',
  'console-getty.service',
  'container-getty@.service',
  // A machine uses the kernel of the host and cannot load modules.
  ...['configfs', 'dm_mod', 'drm', 'efi_pstore', 'fuse', 'loop'].map((module) => `modprobe@${module}.service`),
  // The record of logins is not used.
  'systemd-update-utmp.service',
  'systemd-update-utmp-runlevel.service',
];

/** Each is a process at boot and at every reload, for disks, consoles and init scripts that no machine has. */
export const maskedGenerators: readonly string[] = [
  'systemd-cryptsetup-generator',
  'systemd-debug-generator',
  'systemd-getty-generator',
  'systemd-gpt-auto-generator',
  'systemd-hibernate-resume-generator',
  'systemd-integritysetup-generator',
  'systemd-rc-local-generator',
  'systemd-run-generator',
  'systemd-system-update-generator',
  'systemd-sysv-generator',
  'systemd-veritysetup-generator',
];

export interface SetupFile {
  readonly path: string;
  readonly text: string;
  readonly mode?: number;
}

export const setupFiles: readonly SetupFile[] = [
  {
    // Read after 20-ignition.preset: units that an Ignition config enables are enabled, all others are disabled.
    path: 'etc/systemd/system-preset/30-firstlight.preset',
    text: [...enabledUnits.map((unit) => `enable ${unit}`), 'disable *', ''].join('\n'),
  },
  {
    path: 'etc/ssh/sshd_config.d/10-firstlight.conf',
    text: [
      'AllowUsers core',
      // Ignition writes a user's keys to the second file.
      'AuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys.d/ignition',
      'AuthenticationMethods publickey',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin no',
      'X11Forwarding no',
      '',
    ].join('\n'),
  },
  {
    // Host keys are made on the machine at the first connection, so no image contains a key.
    path: 'etc/systemd/system/firstlight-ssh-keys.service',
    text: [
      '[Unit]',
      'Description=SSH host keys of this machine',
      'ConditionPathExists=!/etc/ssh/ssh_host_ed25519_key',
      '',
      '[Service]',
      'Type=oneshot',
      'RemainAfterExit=yes',
      'ExecStart=/usr/bin/ssh-keygen -A',
      '',
    ].join('\n'),
  },
  {
    path: 'etc/systemd/system/ssh.service.d/10-host-keys.conf',
    text: ['[Unit]', 'Requires=firstlight-ssh-keys.service', 'After=firstlight-ssh-keys.service', ''].join('\n'),
  },
  { path: 'etc/sudoers.d/10-core', text: 'core ALL=(ALL:ALL) NOPASSWD: ALL\n', mode: 0o440 },
  {
    path: 'etc/systemd/journald.conf.d/10-firstlight.conf',
    text: ['[Journal]', 'SystemMaxUse=128M', 'RuntimeMaxUse=16M', ''].join('\n'),
  },
];

/** Links that replace Debian's. They are in /usr, because presets on a machine may remove links in /etc. */
export const setupLinks: Readonly<Record<string, string>> = {
  'usr/lib/systemd/system/default.target': 'multi-user.target',
};

/** Removed after the installation: names and addresses of the host, keys, and what apt can fetch again. */
export const removedPaths: readonly string[] = [
  'etc/hostname',
  'etc/resolv.conf',
  'etc/ssh/ssh_host_ecdsa_key',
  'etc/ssh/ssh_host_ecdsa_key.pub',
  'etc/ssh/ssh_host_ed25519_key',
  'etc/ssh/ssh_host_ed25519_key.pub',
  'etc/ssh/ssh_host_rsa_key',
  'etc/ssh/ssh_host_rsa_key.pub',
  'var/cache/apt',
  'var/cache/debconf',
  'var/lib/apt/lists',
  'var/log/apt',
  'var/log/dpkg.log',
  'var/log/alternatives.log',
  'var/log/bootstrap.log',
];

/** Manuals and translations are not needed on a machine; licences stay. */
export const pathsNotInstalled: readonly string[] = [
  'path-exclude=/usr/share/man/*',
  'path-exclude=/usr/share/info/*',
  'path-exclude=/usr/share/locale/*',
  'path-exclude=/usr/share/doc/*',
  'path-include=/usr/share/doc/*/copyright',
];
