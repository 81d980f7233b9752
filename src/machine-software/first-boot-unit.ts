// The unit that configures a machine from its Ignition config before anything else starts, as files for its root.
// It is required by sysinit.target: when it fails, no service starts on a machine that nobody configured.

/** A file to be put into a machine's root before it boots. */
export type RootFile =
  | { readonly path: string; readonly content: string; readonly mode?: number }
  | { readonly path: string; readonly linkTo: string };

/**
 * The machine's config, handed over by whoever made the machine. First boot runs while it is there, and deletes it as
 * its last act: what may hold secrets does not stay, and nothing of first boot ever runs again.
 */
export const firstBootConfigPath = '/etc/firstlight/config.ign';

const unit = `[Unit]
Description=Configure this machine from its Ignition config (first boot only)
DefaultDependencies=no
ConditionPathExists=${firstBootConfigPath}
After=local-fs.target systemd-remount-fs.service systemd-sysusers.service systemd-tmpfiles-setup.service
Before=sysinit.target shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=firstlight first-boot
TimeoutStartSec=infinity
# Node's heap is not worth more here than the machine's own memory.
Environment=NODE_OPTIONS=--max-old-space-size=64
`;

export const firstBootFiles: readonly RootFile[] = [
  { path: '/etc/systemd/system/firstlight-firstboot.service', content: unit },
  {
    path: '/etc/systemd/system/sysinit.target.requires/firstlight-firstboot.service',
    linkTo: '../firstlight-firstboot.service',
  },
];
