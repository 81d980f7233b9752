// Our own cluster, made by the command that a person types. Its clock: see `ownTimes`.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCluster } from '../src/cluster/find-cluster.ts';
import type { Host } from '../src/host/host.ts';
import { commandName, type RunRecord, readRunRecord } from '../src/waterfall/run-record.ts';
import { type Cost, cpuBetween, type Used } from './cluster-meter.ts';
import { processCpu } from './process-cpu.ts';

const launcher = new URL('../firstlight', import.meta.url).pathname;

/** On our masters. */
export const ownEtcdFiles = {
  ca: '/etc/kubernetes/pki/etcd-ca.crt',
  certificate: '/etc/kubernetes/kube-apiserver/apiserver-etcd-client.crt',
  key: '/etc/kubernetes/kube-apiserver/apiserver-etcd-client.key',
} as const;

export interface OwnInput {
  readonly host: Host;
  readonly dir: string;
  readonly masters: number;
  readonly workers: number;
}

/** The assets are made beforehand only as far as the name of the cluster needs it: the install-config is written. */
export function writeInstallConfig({ dir, masters, workers }: OwnInput): void {
  mkdirSync(dir, { recursive: true });
  const lines = [
    'apiVersion: v1',
    'metadata:',
    '  name: bench',
    'baseDomain: firstlight.test',
    'controlPlane:',
    `  replicas: ${masters}`,
    'compute:',
    `  - replicas: ${workers}`,
    '',
  ];
  writeFileSync(join(dir, 'install-config.yaml'), lines.join('\n'));
}

export interface OwnRun {
  /** Of the command itself and the programs it ran, beside the machines, between two moments. */
  readonly cpuBetween: Cost['cpuBetween'];
}

const everyMs = 50;

export async function createOwnCluster(dir: string): Promise<OwnRun> {
  const child = spawn(launcher, ['create', 'cluster', '--dir', dir], { stdio: ['ignore', 'ignore', 'pipe'] });
  const readings: Used[] = [];
  const timer = setInterval(() => readings.push(...usedBy(child.pid)), everyMs);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  clearInterval(timer);
  if (code !== 0) throw new Error(`create cluster ended with ${code}\n${said}`);
  return { cpuBetween: cpuBetween(readings) };
}

/** The launcher becomes the command: it is one process, and waits for those that it starts. */
function usedBy(pid: number | undefined): readonly Used[] {
  try {
    const { seconds, childrenSeconds } = processCpu(pid);
    return [{ atMs: Date.now(), cpuSeconds: seconds + childrenSeconds }];
  } catch {
    return [];
  }
}

export async function ownName({ host, dir }: Pick<OwnInput, 'host' | 'dir'>): Promise<string | undefined> {
  return (await findCluster(host, dir).catch(() => undefined))?.name;
}

export interface OwnTimes {
  /** Machines booted and idle. */
  readonly idleAtMs: number;
  /** The first process of a machine was about to be started. */
  readonly bootAtMs: number;
  /** What was made before any machine was there, and kubeadm makes while its clock runs: keys, certificates, files. */
  readonly assetsFromMs: number;
  readonly assetsToMs: number;
}

/**
 * Our machines never stand idle: the first thing that a systemd of theirs starts is their way into the cluster. So the
 * clock starts when the first of them gets there (its first boot begins), although kubeadm's machines have configured
 * themselves and run containerd by then; and what the assets took is added. So it is with CPU seconds: making the
 * machines is in neither's.
 */
export async function ownTimes({ host, dir }: Pick<OwnInput, 'host' | 'dir'>): Promise<OwnTimes> {
  const record = await readRunRecord(host, dir);
  if (record === undefined) throw new Error(`no run is on record in ${dir}`);
  const firstBoots = record.moments.filter(({ by, step }) => by === 'first-boot' && step === 'first-boot');
  const idleAtMs = Math.min(...firstBoots.map(({ atMs }) => atMs));
  return {
    idleAtMs,
    bootAtMs: stageTime(record, 'machines', 'began'),
    assetsFromMs: stageTime(record, 'assets', 'began'),
    assetsToMs: stageTime(record, 'assets', 'done'),
  };
}

function stageTime({ moments }: RunRecord, stage: string, wanted: 'began' | 'done'): number {
  const found = moments.find(
    ({ machine, step, state }) => machine === commandName && step === stage && state === wanted,
  );
  if (found === undefined) throw new Error(`the run has no stage ${stage}`);
  return found.atMs;
}

export function destroyOwnCluster(dir: string): void {
  execFileSync(launcher, ['destroy', 'cluster', '--dir', dir], { stdio: 'ignore' });
}
