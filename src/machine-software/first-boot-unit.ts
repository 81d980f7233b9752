// The unit that configures a machine from its Ignition config before anything else starts, as files for its root.
// sysinit.target requires it: when it fails, no service starts on a machine that is not configured.

/** A file to be put into a machine's root before it boots. */
export type RootFile =
  | { readonly path: string; readonly content: string; readonly mode?: number }
  | { readonly path: string; readonly linkTo: string };

/**
 * The machine's config, written by the platform that made the machine. First boot runs while the file exists and
 * deletes it at the end: secrets in it do not stay, and first boot never runs again.
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
