// Our own cluster, made by the command that a person types. Its clock: see `ownTimes`.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../src/host/host.ts';
import { findCluster } from '../src/cluster/find-cluster.ts';
import { commandName, readRunRecord, type RunRecord } from '../src/cluster/waterfall/run-record.ts';

const launcher = new URL('../firstlight', import.meta.url).pathname;

/** On our masters. */
export const ownEtcdFiles = {
  ca: '/etc/kubernetes/pki/etcd-ca.crt',
  certificate: '/etc/kubernetes/pki/etcd-healthcheck-client.crt',
  key: '/etc/kubernetes/pki/etcd-healthcheck-client.key',
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
  /** Of the command itself, beside the machines. */
  readonly cpuSeconds: number;
  readonly endedAtMs: number;
}

export async function createOwnCluster(dir: string): Promise<OwnRun> {
  const args = ['--format=%U %S', '--output', join(dir, 'time'), launcher, 'create', 'cluster', '--dir', dir];
  const child = spawn('/usr/bin/time', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  const endedAtMs = Date.now();
  if (code !== 0) throw new Error(`create cluster ended with ${code}\n${said}`);
  const [user = 0, system = 0] = readFileSync(join(dir, 'time'), 'utf8').trim().split(' ').map(Number);
  return { cpuSeconds: user + system, endedAtMs };
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
  readonly assetsMs: number;
}

/**
 * Our machines never stand idle: the first thing that a systemd of theirs starts is their way into the cluster. So the
 * clock starts when the first of them gets there (its first boot begins), although kubeadm's machines have configured
 * themselves and run containerd by then; and the time that the assets took is added.
 */
export async function ownTimes({ host, dir }: Pick<OwnInput, 'host' | 'dir'>): Promise<OwnTimes> {
  const record = await readRunRecord(host, dir);
  if (record === undefined) throw new Error(`no run is on record in ${dir}`);
  const firstBoots = record.moments.filter(({ by, step }) => by === 'first-boot' && step === 'first-boot');
  const idleAtMs = Math.min(...firstBoots.map(({ atMs }) => atMs));
  return { idleAtMs, bootAtMs: stageTime(record, 'machines', 'began'), assetsMs: stageMs(record, 'assets') };
}

function stageMs(record: RunRecord, stage: string): number {
  return stageTime(record, stage, 'done') - stageTime(record, stage, 'began');
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
