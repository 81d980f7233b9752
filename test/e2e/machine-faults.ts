// Faults made from outside on one machine of a local cluster, each with its cure. Nothing of the program knows of them:
// packet filters in the cluster's own namespaces, files inside the machine, a folder that is too small.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inside } from './machine-lab.ts';

export interface FaultyMachine {
  readonly cluster: string;
  readonly machine: string;
  readonly address: string;
}

export function switchNamespace(cluster: string): string {
  return `firstlight.${cluster}`;
}

function nft(namespace: string, ...lines: readonly string[]): void {
  execFileSync('nsenter', [`--net=/run/netns/${namespace}`, 'nft', '-f', '-'], { input: `${lines.join('\n')}\n` });
}

/**
 * Nothing from this machine reaches a port of the load balancer. What is dropped is tried again by the kernel for long
 * and gets through when the port opens; what is refused is over at once.
 */
export function blockPort({ cluster, address }: FaultyMachine, port: number, how: 'drop' | 'refuse'): void {
  const verdict = how === 'drop' ? 'drop' : 'reject with tcp reset';
  nft(
    switchNamespace(cluster),
    'add table ip fault',
    'add chain ip fault input { type filter hook input priority 0 ; }',
    `add rule ip fault input ip saddr ${address} tcp dport ${port} ${verdict}`,
  );
}

export function unblockPorts({ cluster }: FaultyMachine): void {
  nft(switchNamespace(cluster), 'delete table ip fault');
}

/** A resolver that points nowhere, as a mistake in a DHCP server makes it. */
export async function loseNames({ cluster, machine }: FaultyMachine): Promise<void> {
  await inside(cluster, machine, 'cp /etc/resolv.conf /run/resolv.conf; echo nameserver 127.0.0.1 > /etc/resolv.conf');
}

export async function findNames({ cluster, machine }: FaultyMachine): Promise<void> {
  await inside(cluster, machine, 'cat /run/resolv.conf > /etc/resolv.conf');
}

/** The config that a machine boots with until its first boot is over, changed while the machine is off. */
export function changePointer({ cluster, machine }: FaultyMachine, change: (config: string) => string): void {
  const path = join('/var/lib/firstlight/clusters', cluster, 'machines', machine, 'config.ign');
  writeFileSync(path, change(readFileSync(path, 'utf8')), { mode: 0o600 });
}

/** Another token of the same form: what a machine has that was made from the files of another cluster. */
export function otherToken(config: string): string {
  return config.replaceAll(/Bearer [\w.-]+/g, (header) => `${header.slice(0, -4)}AAAA`);
}

const fakeTime = 'libfaketime.so.1';

/** Debian keeps it in a folder of the processor's kind. */
function fakeTimeLibrary(): Buffer {
  const files = execFileSync('dpkg', ['-L', 'libfaketime'], { encoding: 'utf8' }).split('\n');
  return readFileSync(files.find((path) => path.endsWith(`/${fakeTime}`)) ?? fakeTime);
}

/**
 * Every program with a dynamic linker that starts from now on lives `seconds` ahead: the agent is one of them. Programs
 * written in Go read the kernel's clock without asking anybody; a machine shares that clock with its host, and a time
 * namespace does not shift it.
 */
export function setClockAhead({ cluster, machine }: FaultyMachine, seconds: number): void {
  const root = `/proc/${leaderOf(cluster, machine)}/root`;
  writeFileSync(`${root}/etc/faketimerc`, `+${seconds}\n`);
  writeFileSync(`${root}/usr/lib/${fakeTime}`, fakeTimeLibrary(), { mode: 0o755 });
  writeFileSync(`${root}/etc/ld.so.preload`, `/usr/lib/${fakeTime}\n`);
}

export async function setClockRight({ cluster, machine }: FaultyMachine): Promise<void> {
  writeFileSync(`/proc/${leaderOf(cluster, machine)}/root/etc/ld.so.preload`, '');
  await inside(cluster, machine, 'systemctl restart firstlight-agent');
}

/** A small disk below etcd's folder, filled to the last byte. */
export async function fillDisk({ cluster, machine }: FaultyMachine): Promise<void> {
  const fill = 'dd if=/dev/zero of=/var/lib/etcd/filler bs=64k status=none || true';
  await inside(cluster, machine, `mkdir -p /var/lib/etcd && mount -t tmpfs -o size=16m tmpfs /var/lib/etcd && ${fill}`);
}

export async function freeDisk({ cluster, machine }: FaultyMachine): Promise<void> {
  await inside(cluster, machine, 'umount -l /var/lib/etcd');
}

const ctr = 'ctr --namespace k8s.io images';

/** Every name of an image goes; it is kept in an archive for later. */
export async function loseImage({ cluster, machine }: FaultyMachine, name: string): Promise<void> {
  const references = `$(${ctr} list --quiet | grep /${name}[:@])`;
  await inside(cluster, machine, `${ctr} export /root/${name}.tar ${references} && ${ctr} remove --sync ${references}`);
}

export async function bringImage({ cluster, machine }: FaultyMachine, name: string): Promise<void> {
  await inside(cluster, machine, `${ctr} import --digests /root/${name}.tar`);
}

/** Process 1 of a machine, as the host sees it. */
function leaderOf(cluster: string, machine: string): string {
  const hostname = machine;
  const found = readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/root/etc/hostname`)) return false;
    try {
      const isInit = /^NSpid:\s*\d+\s+1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      const parent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
      return isInit && readFileSync(`/proc/${parent}/cmdline`, 'utf8').includes(`--machine=${hostname}.${cluster}\0`);
    } catch {
      return false;
    }
  });
  const [leader] = found;
  if (leader === undefined) throw new Error(`${machine} of ${cluster} does not run`);
  return leader;
}
