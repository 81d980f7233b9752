// The script that is a machine's supervisor: it owns the machine's mounts and control groups, runs nspawn, and runs it
// again when the machine asked for a reboot. It is a shell script because it must stay small, outlive every command and
// need only programs of the host. Everything that differs between hosts comes from the plan.
import { containerdFolder, imageLayersFolder, osReleaseFile } from '../../contract/machine-paths.ts';
import { machineGroup, machineNamespace, machinePaths, namespacePath, nspawnName } from './cluster-folder.ts';
import type { LocalMachine } from './local-machine.ts';
import { recordItself } from './own-process.ts';
import type { CgroupPlan, MachinePlan } from './plan.ts';

/** nspawn's exit status when the machine asked to be started again. */
export const rebootStatus = 133;

export interface StartScriptInput {
  readonly cluster: string;
  readonly machine: LocalMachine;
  readonly plan: MachinePlan;
}

export function startScript(input: StartScriptInput): string {
  const { cluster, machine, plan } = input;
  const paths = machinePaths(cluster, machine.name);
  const group = machineGroup(cluster, machine.name);
  const { rootFolder } = machine.image;
  const rootLayers = `lowerdir=${escaped(rootFolder)},upperdir=${escaped(paths.upper)},workdir=${escaped(paths.work)}`;
  const beforeEachLife = [...removeStaleCgroups(plan.cgroup, group), ...resetNetwork(cluster, machine.name)];
  const command = [...recorded(paths.nspawnRecord), ...intoLeaf(plan.cgroup, group), ...nspawnCommand(input)];
  const run = `${nspawnEnvironment(plan)} ${command.map(quote).join(' ')}`;
  const lives =
    plan.supervisor === 'systemd-unit'
      ? // The unit starts this script anew for a reboot (RestartForceExitStatus).
        [...beforeEachLife, `exec env ${run}`]
      : [
          'while :; do',
          ...[...beforeEachLife, 'status=0', `${run} || status=$?`].map(indent),
          `  [ "$status" -eq ${rebootStatus} ] || exit "$status"`,
          'done',
        ];
  return [
    '#!/bin/sh',
    '# Written by firstlight at every start of this machine; changes are lost.',
    'set -eu',
    recordItself(quote(paths.supervisorRecord)),
    ...enterCgroups(plan.cgroup, group),
    mountOverlay(rootLayers, paths.root),
    ...hideOsRelease(rootFolder, paths.osRelease),
    ...mountImageLayers(input),
    ...lives,
    '',
  ].join('\n');
}

function mountOverlay(options: string, at: string): string {
  return `mount -t overlay overlay -o ${quote(options)} ${quote(at)}`;
}

/** In mount options a comma separates options and a colon lower folders, unless a backslash stands before it. */
function escaped(path: string): string {
  return path.replaceAll(/[\\:,]/g, '\\$&');
}

/**
 * nspawn gives every machine the host's file, which root of the machine could make writable. A copy of the release's
 * hides it. The machine's own file will not do: the machine may replace it, and then nspawn does not start again, or
 * make it a link, which would be followed on the host.
 */
function hideOsRelease(rootFolder: string, copy: string): readonly string[] {
  return [
    `cp ${quote(`${rootFolder}/usr/lib/os-release`)} ${quote(copy)}`,
    `[ ! -e ${osReleaseFile} ] || mount --bind ${quote(copy)} "$(readlink -f ${osReleaseFile})"`,
  ];
}

/**
 * An overlay that has lower folders only. Nobody can make it writable, not even root of the machine, who could do so
 * with a read-only bind. It needs two folders: the second one is the empty mount point itself.
 */
function mountImageLayers({ cluster, machine }: StartScriptInput): readonly string[] {
  const { layers } = machinePaths(cluster, machine.name);
  const { containerdSeed } = machine.image;
  if (containerdSeed === undefined) return [];
  return [mountOverlay(`lowerdir=${escaped(containerdSeed)}:${escaped(layers)}`, layers)];
}

export function nspawnCommand({ cluster, machine }: StartScriptInput): readonly string[] {
  const paths = machinePaths(cluster, machine.name);
  return [
    'systemd-nspawn',
    '--quiet',
    '--settings=no',
    '--register=no',
    '--keep-unit',
    `--machine=${nspawnName(cluster, machine.name)}`,
    `--hostname=${machine.name}`,
    `--uuid=${machine.machineId}`,
    `--directory=${paths.root}`,
    `--network-namespace-path=${namespacePath(machineNamespace(cluster, machine.name))}`,
    '--capability=all',
    '--system-call-filter=@known @privileged bpf add_key keyctl',
    '--link-journal=no',
    '--resolv-conf=off',
    '--timezone=off',
    '--bind=/dev/kmsg',
    ...(machine.image.containerdSeed === undefined ? [] : [`--bind-ro=${paths.layers}:${imageLayersFolder}`]),
    `--bind=${paths.containerd}:${containerdFolder}`,
    `--bind=${paths.kubelet}:/var/lib/kubelet`,
    `--bind=${paths.etcd}:/var/lib/etcd`,
    '--console=pipe',
    '--boot',
  ];
}

/** Runs the command that follows in a process that has a record. */
function recorded(file: string): readonly string[] {
  return ['sh', '-c', `${recordItself(quote(file))} && exec "$@"`, 'sh'];
}

function nspawnEnvironment(plan: MachinePlan): string {
  return `SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=${plan.cgroup.version === 2 ? 1 : 0}`;
}

/** Makes the machine's group in every hierarchy and moves this script into it before anything else runs. */
function enterCgroups(cgroup: CgroupPlan, group: string): readonly string[] {
  if (cgroup.kind === 'delegated') return [];
  const groups = cgroup.mounts.map((mount) => `${mount}/${group}`);
  const own = cgroup.version === 2 ? groups.map((path) => `${path}/${scriptLeaf}`) : groups;
  return [
    `mkdir -p ${own.map(quote).join(' ')}`,
    ...(cgroup.version === 1 ? fillCpuset(cgroup.cpusetMount, group) : []),
    `for group in ${own.map(quote).join(' ')}; do echo $$ > "$group/cgroup.procs"; done`,
    ...(cgroup.version === 2 ? handDown(cgroup, group) : []),
  ];
}

// On version 2 a group that enables controllers for its children may hold no process, so script and nspawn get a child
// group each.
const scriptLeaf = 'script';
const nspawnLeaf = 'machine';

/** Runs the command that follows in the child group that nspawn divides further. */
function intoLeaf(cgroup: CgroupPlan, group: string): readonly string[] {
  if (cgroup.kind === 'delegated' || cgroup.version === 1) return [];
  const leaves = cgroup.mounts.map((mount) => `${mount}/${group}/${nspawnLeaf}`);
  const enter = leaves.map((leaf) => `mkdir -p ${leaf} && echo $$ > ${leaf}/cgroup.procs`).join(' && ');
  return ['sh', '-c', `${enter} && exec "$@"`, 'sh'];
}

/** A new cpuset is empty and refuses processes until it has processors and memory nodes. */
function fillCpuset(mount: string | undefined, group: string): readonly string[] {
  if (mount === undefined) return [];
  return ancestors(group).map(
    (path) => `for f in cpuset.cpus cpuset.mems; do cat ${quote(mount)}/$f > ${quote(`${mount}/${path}`)}/$f; done`,
  );
}

/** On version 2 a group has a controller only when each of its parents enables it for its children. */
function handDown(cgroup: CgroupPlan & { kind: 'own'; version: 2 }, group: string): readonly string[] {
  return cgroup.mounts.flatMap((mount) =>
    [mount, ...ancestors(group).map((path) => `${mount}/${path}`)].flatMap((parent) =>
      cgroup.controllers.map((name) => `echo +${name} > ${quote(`${parent}/cgroup.subtree_control`)} || true`),
    ),
  );
}

/** Groups from before a reboot make kubelet hang for half a minute. The machine has no process at this point. */
function removeStaleCgroups(cgroup: CgroupPlan, group: string): readonly string[] {
  if (cgroup.kind === 'delegated') return [];
  const groups = cgroup.mounts.map((mount) => quote(`${mount}/${group}`));
  return [`find ${groups.join(' ')} -mindepth 1 -depth -type d -delete 2>/dev/null || true`];
}

/**
 * A rebooted machine finds its network as it was when it was made: no routes or packet filters from before the reboot.
 */
function resetNetwork(cluster: string, machine: string): readonly string[] {
  const namespace = quote(machineNamespace(cluster, machine));
  return [
    `nsenter --net=${quote(namespacePath(machineNamespace(cluster, machine)))} nft flush ruleset || true`,
    `ip -n ${namespace} address flush dev eth0`,
    `ip -n ${namespace} route flush table main || true`,
    `ip -n ${namespace} -batch ${quote(machinePaths(cluster, machine).networkBatch)}`,
  ];
}

function ancestors(group: string): readonly string[] {
  const parts = group.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function quote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function indent(line: string): string {
  return `  ${line}`;
}
