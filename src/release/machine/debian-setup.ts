// What makes a plain Debian a machine of ours: which packages, which units may run, how SSH behaves.
// A table, because every line of it is a decision; `debian.ts` only carries it out.

export const debianPackages: readonly string[] = [
  // boots and supervises
  'systemd',
  'systemd-sysv',
  'dbus',
  'kmod',
  'procps',
  // the kubelet, kube-proxy and the CNI plugins call these; netbase has /etc/protocols, which nft cannot do without
  'iproute2',
  'iptables',
  'nftables',
  'conntrack',
  'ethtool',
  'socat',
  'netbase',
  'ca-certificates',
  'runc',
  // what the Node runtime links against beyond Debian's minimum
  'libatomic1',
  'libstdc++6',
  // the user core: logs in with a key, becomes root without a password
  'openssh-server',
  'sudo',
];

/** Enabled on every machine; all else that ships enabled is switched off, and Ignition's own preset comes before. */
const enabledUnits = ['ssh.socket', 'systemd-tmpfiles-clean.timer'];

/** Never to be started, not even as somebody's dependency: timers that cost, and consoles nobody sits at. */
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
  // The kernel is the host's, and so are its modules.
  ...['configfs', 'dm_mod', 'drm', 'efi_pstore', 'fuse', 'loop'].map((module) => `modprobe@${module}.service`),
  // Nobody asks a machine who has logged in since when.
  'systemd-update-utmp.service',
  'systemd-update-utmp-runlevel.service',
];

/** Run at boot and at every reload, one process each: for disks, consoles and init scripts that no machine has. */
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
    // After 20-ignition.preset: what a config enables wins; what nobody enabled stays off when presets are applied.
    path: 'etc/systemd/system-preset/30-firstlight.preset',
    text: [...enabledUnits.map((unit) => `enable ${unit}`), 'disable *', ''].join('\n'),
  },
  {
    path: 'etc/ssh/sshd_config.d/10-firstlight.conf',
    text: [
      'AllowUsers core',
      // The second is where Ignition puts a user's keys.
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
    // Host keys are made on the machine, when somebody first connects: no key is ever part of an image.
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

/** Links that replace Debian's own: presets applied on a machine may remove those in /etc, never these. */
export const setupLinks: Readonly<Record<string, string>> = {
  'usr/lib/systemd/system/default.target': 'multi-user.target',
};

/** Left behind by the installation: names and addresses of the host, keys, and what apt can fetch again. */
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

/** Manuals and translations: nobody reads them on a machine; licences stay. */
export const pathsNotInstalled: readonly string[] = [
  'path-exclude=/usr/share/man/*',
  'path-exclude=/usr/share/info/*',
  'path-exclude=/usr/share/locale/*',
  'path-exclude=/usr/share/doc/*',
  'path-include=/usr/share/doc/*/copyright',
];
