// Takes a backup of a running cluster: a snapshot of etcd from a master, by the etcdctl of its release, verified here
// by etcdutl before the file gets its name. One living member is enough; without a majority the backup says so.
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { clusterJournalPath, ownFolder } from '../../contract/asset-folder.ts';
import {
  controlPlanePki,
  machineStateFolder,
  programs,
  releaseFile,
  releaseImageFile,
} from '../../contract/machine-paths.ts';
import { etcdPorts, httpsUrl } from '../../contract/ports.ts';
import { readEncryptionKeys, secretsEncryptionFile } from '../../contract/secrets-encryption.ts';
import { snapshotDigests, writeBackup } from '../../disaster-recovery/backup-file.ts';
import type { BackupManifest } from '../../disaster-recovery/backup-manifest.ts';
import { recoveryErrors } from '../../disaster-recovery/errors.ts';
import { chooseMember, type EtcdSight, readEndpointStatus } from '../../disaster-recovery/etcd-answers.ts';
import { sealText } from '../../disaster-recovery/sealed-keys.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { Emit } from '../../workflow/events.ts';
import { readJournal } from '../../workflow/journal.ts';
import { type FoundCluster, mustFindCluster } from '../find-cluster.ts';
import { isHandedOver } from '../handed-over.ts';
import { failureOf, type InsideRun, outputToFile, runInMachine } from './machine-transfer.ts';
import { folderSealing, snapshotStatus } from './snapshot-checks.ts';

export interface TakeBackup {
  readonly host: Host;
  readonly dir: string;
  /** The file to write; undefined: a new one in `backups` of the asset folder. */
  readonly to: string | undefined;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface TakenBackup {
  readonly file: string;
  readonly sizeBytes: number;
  readonly manifest: BackupManifest;
}

/** Relative to the asset folder; for the snapshot until it is verified. */
const workFolder = `${ownFolder}/backup`;

export async function takeBackup(take: TakeBackup): Promise<TakenBackup> {
  const { host, dir } = take;
  const cluster = await mustFindCluster(host, dir);
  const records = await readJournal(host.files, join(dir, clusterJournalPath));
  if (!(await isHandedOver({ host, dir, cluster, records }))) throw recoveryErrors.NOT_COMPLETE({ dir });
  const now = host.clock.now();
  const file = take.to ?? join(dir, 'backups', `${cluster.name}-${stampOf(now)}.tar.gz`);
  if ((await host.files.facts(file)) !== undefined) throw recoveryErrors.FILE_EXISTS({ file });
  await host.files.makeFolder(join(dir, workFolder), { mode: 0o700 });
  const lock = await host.files.lock(join(dir, workFolder), 'backup');
  if ('heldBy' in lock) throw recoveryErrors.BUSY({ pid: lock.heldBy.pid ?? 0 });
  await using _ = lock;
  const snapshot = join(dir, workFolder, 'snapshot.db');
  try {
    const member = await memberToAsk(take, cluster);
    const manifest = await snapshotOf(take, cluster, { member, snapshot, now });
    if (dirname(file) === join(dir, 'backups')) await host.files.makeFolder(dirname(file), { mode: 0o700 });
    await writeBackup(host.files, { path: file, manifest, snapshot });
    return { file, sizeBytes: (await host.files.facts(file))?.sizeBytes ?? 0, manifest };
  } finally {
    await host.files.remove(snapshot);
  }
}

/** `20261116193000`. */
function stampOf(now: Date): string {
  return now.toISOString().replaceAll(/\D/g, '').slice(0, 14);
}

const lookMs = 15_000;
const snapshotMs = 30 * 60_000;

const etcdctl = [
  programs.etcdctl,
  `--endpoints=${httpsUrl('127.0.0.1', etcdPorts.client)}`,
  `--cacert=${controlPlanePki}/etcd-ca.crt`,
  `--cert=${controlPlanePki}/etcd-membership-client.crt`,
  `--key=${controlPlanePki}/etcd-membership-client.key`,
];

function insideOf({ host, signal }: TakeBackup, { platform, name }: FoundCluster, machine: string) {
  return (command: readonly string[], timeoutMs: number): InsideRun => {
    return { host, platform, machine: { cluster: name, machine }, command, signal, timeoutMs };
  };
}

async function memberToAsk(take: TakeBackup, cluster: FoundCluster): Promise<EtcdSight> {
  const machines = await cluster.platform.listMachines(cluster.name);
  const masters = machines.filter(({ role }) => role === 'master').map(({ name }) => name);
  const answers = await Promise.all(masters.map((master) => askMember(take, cluster, master)));
  const seen = answers.flatMap((answer) => ('machine' in answer ? [answer] : []));
  const chosen = chooseMember(seen);
  const silent = answers.flatMap((answer) => ('why' in answer ? [answer.why] : []));
  if (chosen === undefined) {
    const corrupt = seen.map(({ machine }) => `${machine} says that its data is corrupt`);
    throw recoveryErrors.NO_MEMBER({ seen: [...silent, ...corrupt] });
  }
  const tell = (level: 'info' | 'warn', text: string): void => take.emit({ kind: 'notice', level, text });
  for (const why of silent) tell('warn', why);
  if (!chosen.hasLeader) {
    const reason = 'etcd has no majority, so writes that only the other members have are not in it';
    tell('warn', `the backup is what ${chosen.machine} has: ${reason}`);
  }
  tell('info', `etcd of ${chosen.machine} is at revision ${chosen.revision} with ${inMegabytes(chosen.sizeBytes)}`);
  return chosen;
}

async function askMember(
  take: TakeBackup,
  cluster: FoundCluster,
  machine: string,
): Promise<EtcdSight | { readonly why: string }> {
  try {
    const command = [...etcdctl, '--command-timeout=5s', 'endpoint', 'status', '--write-out=json'];
    const result = await runInMachine(insideOf(take, cluster, machine)(command, lookMs));
    return readEndpointStatus(machine, result.stdout) ?? { why: `etcd of ${machine}: ${failureOf(result)}` };
  } catch (error) {
    take.signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    return { why: error.message };
  }
}

/** The folder goes with the shell; one that a killed shell left is removed by the next. */
const saveScript = `set -eu
umask 077
folder=${machineStateFolder}/etcd-backup
rm -rf "$folder"
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
"$@" snapshot save "$folder/snapshot.db" >&2
cat "$folder/snapshot.db"`;

interface Snapshot {
  readonly member: EtcdSight;
  /** Where it is written to. */
  readonly snapshot: string;
  readonly now: Date;
}

async function snapshotOf(
  take: TakeBackup,
  cluster: FoundCluster,
  { member, snapshot, now }: Snapshot,
): Promise<BackupManifest> {
  const { host, dir } = take;
  const { machine } = member;
  const inside = insideOf(take, cluster, machine);
  // The keys first: a rotation adds a key a minute before anything is encrypted by it.
  const keysText = await encryptionKeysOf(cluster, machine);
  const keys = readEncryptionKeys(keysText);
  if ('mistake' in keys) throw recoveryErrors.KEYS_UNREADABLE({ machine, reason: keys.mistake });
  const release = await releaseOf((path) => inside(['cat', path], lookMs));
  const saved = await outputToFile(inside(['sh', '-c', saveScript, 'sh', ...etcdctl], snapshotMs), snapshot);
  if (saved.code !== 0) throw recoveryErrors.SNAPSHOT_FAILED({ machine, reason: failureOf(saved) });
  const { isWhole, ...digests } = await snapshotDigests(host.files, snapshot);
  if (!isWhole) throw recoveryErrors.NOT_SOUND({ reason: 'its checksum is not that of its content' });
  const status = await snapshotStatus(host, snapshot, take.signal);
  if ('mistake' in status) throw recoveryErrors.NOT_SOUND({ reason: status.mistake });
  if (status.revision < member.revision) {
    throw recoveryErrors.NOT_SOUND({ reason: `it is of revision ${status.revision}, before ${member.revision}` });
  }
  const { clusterName, clusterId } = cluster;
  const sealing = await folderSealing(host, dir, clusterId);
  return {
    format: 1,
    takenAt: now.toISOString(),
    cluster: { name: clusterName, id: clusterId, infraId: cluster.name },
    release,
    etcd: { member: machine, hasMajority: member.hasLeader, ...status },
    snapshot: digests,
    encryption: { keys: keys.map(({ name }) => name), sealed: sealText(keysText, sealing, host.random) },
  };
}

async function encryptionKeysOf({ platform, name }: FoundCluster, machine: string): Promise<string> {
  const path = join(controlPlanePki, secretsEncryptionFile);
  const content = await platform.filesOf({ cluster: name, machine }).readIfPresent(path);
  if (content === undefined) throw recoveryErrors.KEYS_UNREADABLE({ machine, reason: `there is no ${basename(path)}` });
  return Buffer.from(content).toString('utf8');
}

const releaseSchema = z.looseObject({
  version: z.string(),
  kubernetes: z.string(),
  parts: z.array(z.looseObject({ name: z.string(), version: z.string() })),
});
const imageSchema = z.looseObject({ reference: z.string() });

/** What the machine runs, and not what was built here since. */
async function releaseOf(printing: (path: string) => InsideRun): Promise<BackupManifest['release']> {
  const read = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const run = printing(path);
    const found = schema.safeParse(jsonIfValid((await runInMachine(run)).stdout));
    if (found.success) return found.data;
    throw recoveryErrors.SNAPSHOT_FAILED({ machine: run.machine.machine, reason: `${path} cannot be read` });
  };
  const { version, kubernetes, parts } = await read(releaseFile, releaseSchema);
  const { reference: image } = await read(releaseImageFile, imageSchema);
  return { version, image, kubernetes, etcd: parts.find(({ name }) => name === 'etcd')?.version ?? '' };
}

/** `20.5 MB`. */
export function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
