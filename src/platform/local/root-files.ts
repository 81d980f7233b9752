// The files of a new machine's root besides the shared image: its name and identity, its name server, its Ignition
// config. Pure; machine-folder.ts writes them into the upper folder before the first boot.
import { hostsFile, resolverFile } from '../../contract/machine-paths.ts';
import { firstBootConfigPath, firstBootFiles, type RootFile } from '../../machine-software/first-boot-unit.ts';
import type { MachineNetwork } from './addresses.ts';
import type { LocalMachine } from './local-machine.ts';

export interface RootFilesInput {
  readonly machine: LocalMachine;
  readonly domain: string;
  readonly network: MachineNetwork;
  readonly ignition: Uint8Array;
}

export type MachineRootFile =
  | RootFile
  | { readonly path: string; readonly content: Uint8Array; readonly mode?: number };

export function rootFiles({ machine, domain, network, ignition }: RootFilesInput): readonly MachineRootFile[] {
  return [
    { path: '/etc/hostname', content: `${machine.name}\n` },
    { path: '/etc/machine-id', content: `${machine.machineId}\n`, mode: 0o444 },
    { path: hostsFile, content: hostsText(machine, domain) },
    { path: resolverFile, content: `nameserver ${network.switchAddress}\nsearch ${domain}\n` },
    { path: firstBootConfigPath, content: ignition, mode: 0o600 },
    ...firstBootFiles,
    ...nspawnFiles,
  ];
}

/** The machine's own name must resolve at once: kubelet waits 10 s in three places when it does not. */
function hostsText(machine: LocalMachine, domain: string): string {
  return [
    '127.0.0.1 localhost',
    '::1 localhost ip6-localhost ip6-loopback',
    `${machine.address} ${machine.name}.${domain} ${machine.name}`,
    '',
  ].join('\n');
}

// nspawn mounts /proc/sys, /sys and the cgroup version 1 controllers read-only; kubelet and its pods need to write
// there, and mounts made on a node must reach its pods. A remount without `bind` fails with "busy" on a controller.
const apiMountsScript = `set -eu
controllers=$(awk '$3 == "cgroup" { print $2 }' /proc/mounts)
for path in /proc/sys /sys $controllers; do
  mount -o remount,bind,rw "$path"
done
mount --make-rshared /
`;
const apiMountsPath = '/etc/firstlight/api-mounts.sh';

// Before systemd-sysctl too: settings that it finds read-only are lost without a word until the next boot.
const apiMountsUnit = `[Unit]
Description=Make the kernel's interfaces writable for the node's software
DefaultDependencies=no
ConditionVirtualization=systemd-nspawn
Before=sysinit.target systemd-sysctl.service shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh ${apiMountsPath}
`;

// Kept on disk, so that the journal of a machine that died can be read. /dev/kmsg is the host's: kubelet reads it, but
// the host's kernel log does not belong into every machine's journal.
const journalSettings = `[Journal]
Storage=persistent
ReadKMsg=no
`;

const nspawnFiles: readonly RootFile[] = [
  { path: '/etc/systemd/journald.conf.d/20-local-platform.conf', content: journalSettings },
  { path: apiMountsPath, content: apiMountsScript },
  { path: '/etc/systemd/system/firstlight-api-mounts.service', content: apiMountsUnit },
  {
    path: '/etc/systemd/system/sysinit.target.wants/firstlight-api-mounts.service',
    linkTo: '../firstlight-api-mounts.service',
  },
];
