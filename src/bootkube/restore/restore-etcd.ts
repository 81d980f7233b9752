// The data of the first etcd member of a cluster that is brought back: made once from the snapshot of the backup,
// before any etcd starts here. It is made aside and renamed into place, so a run that was killed begins again.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type EtcdRestore, etcdSnapshotFile } from '../../contract/etcd-restore.ts';
import { etcdDataFolder, programs } from '../../contract/machine-paths.ts';
import { waitingFor } from '../../contract/missing.ts';
import { working } from '../../contract/stage-progress.ts';
import { readDataFolder } from '../../etcd/data-folder.ts';
import type { InitialMember } from '../../etcd/member.ts';
import type { Host } from '../../host/host.ts';
import type { StageTools } from '../../workflow/stage.ts';
import { type Observation, waitUntil } from '../../workflow/wait.ts';
import type { BootkubeContext } from '../context.ts';
import { bootkubeErrors } from '../errors.ts';
import { foundingOf, readScaling } from '../stages/07-etcd.ts';

/** Whoever brings the snapshot may be interrupted; the unit tries again after this time. */
const arrivalMs = 30 * 60_000;

/**
 * Clients that watched the lost etcd know revisions after the snapshot. The restored one begins so far after them that
 * it never gives one of these numbers to other content; all before is marked as compacted, so every client lists anew.
 */
const revisionsSkipped = 1_000_000_000;

/** Nothing to do on the machine of a new cluster, or where the data is in place. */
export async function restoreEtcd(context: BootkubeContext, tools: StageTools): Promise<void> {
  const { host, restore } = context;
  if (restore === undefined) return;
  if ((await readDataFolder(host.files, etcdDataFolder)).status === 'present') return;
  await awaitSnapshot(host, restore, tools);
  tools.report(working(`restoring etcd from a snapshot at revision ${restore.snapshot.revision}`));
  const aside = join(etcdDataFolder, 'restoring');
  await host.files.makeFolder(etcdDataFolder, { mode: 0o700 });
  await host.files.remove(aside);
  const { founder } = await readScaling(context);
  const args = restoreArguments({
    snapshot: etcdSnapshotFile,
    folder: aside,
    founder,
    ...foundingOf(context, { founder }),
  });
  const { code, stderr } = await host.processes.run(programs.etcdutl, args, { signal: tools.signal });
  if (code !== 0) throw bootkubeErrors.SNAPSHOT_REFUSED({ reason: stderr.trim().split('\n').at(-1) ?? '' });
  await host.files.rename(join(aside, 'member'), join(etcdDataFolder, 'member'), { isDurable: true });
  await host.files.remove(aside);
}

interface Restoring {
  readonly snapshot: string;
  /** Where the data is made; it must not exist. */
  readonly folder: string;
  readonly founder: string;
  readonly clusterToken: string;
  readonly initialCluster: readonly InitialMember[];
}

export function restoreArguments(restoring: Restoring): readonly string[] {
  const { snapshot, folder, founder, clusterToken, initialCluster } = restoring;
  return [
    'snapshot',
    'restore',
    snapshot,
    `--data-dir=${folder}`,
    `--name=${founder}`,
    `--initial-cluster=${initialCluster.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',')}`,
    `--initial-advertise-peer-urls=${initialCluster.map(({ peerUrl }) => peerUrl).join(',')}`,
    `--initial-cluster-token=${clusterToken}`,
    `--bump-revision=${revisionsSkipped}`,
    '--mark-compacted',
  ];
}

async function awaitSnapshot(host: Host, { snapshot }: EtcdRestore, tools: StageTools): Promise<void> {
  await waitUntil({
    clock: host.clock,
    what: 'the arrival of the snapshot of etcd',
    deadlineMs: arrivalMs,
    everyMs: 200,
    signal: tools.signal,
    probe: async (): Promise<Observation<true>> => {
      const facts = await host.files.facts(etcdSnapshotFile);
      const missing = waitingFor('the snapshot of etcd', 'to be brought by firstlight restore');
      if (facts?.kind !== 'file') return { status: 'waiting', missing: [missing] };
      const isWhole = facts.sizeBytes === snapshot.sizeBytes && (await digestOfFile(host)) === snapshot.sha256;
      if (isWhole) return { status: 'ready', value: true };
      return { status: 'waiting', missing: [{ ...missing, detail: `${etcdSnapshotFile} is another file` }] };
    },
    onMissing: (missing) => tools.report({ missing }),
  });
}

async function digestOfFile({ files }: Pick<Host, 'files'>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of files.stream(etcdSnapshotFile)) hash.update(chunk);
  return hash.digest('hex');
}
