// Brings a cluster back whose masters are all lost. It has a journal of its own until it is over: the same command
// continues an interrupted restore, and the journal of `create cluster` goes on saying what that has done.
import { join } from 'node:path';
import { ownFolder } from '../../contract/asset-folder.ts';
import { type BackupManifest } from '../../disaster-recovery/backup-manifest.ts';
import { decideRestore, type RestoreDecision } from '../../disaster-recovery/decide-restore.ts';
import { recoveryErrors } from '../../disaster-recovery/errors.ts';
import type { Host } from '../../host/host.ts';
import { keepRun } from '../../waterfall/collect-run.ts';
import { runStages } from '../../workflow/engine.ts';
import type { Emit } from '../../workflow/events.ts';
import { openJournal, readJournal } from '../../workflow/journal.ts';
import { type ClusterContext, produced } from '../cluster-context.ts';
import { claimFolder } from '../cluster-dir.ts';
import { mustFindOwnMachines } from '../find-cluster.ts';
import type { WaitLimits } from '../wait-for-progress.ts';
import { openBackup, restoreFolder } from './open-backup.ts';
import { type RestoreContext, restoreUnderWay } from './restore-context.ts';
import { restoreStages } from './restore-stages.ts';

export interface RestoreOptions {
  readonly host: Host;
  readonly dir: string;
  /** The backup. */
  readonly file: string;
  /** The command as a person types it, without `firstlight`. */
  readonly command: string;
  /** Masters that are still there are destroyed first. */
  readonly replacesMasters: boolean;
  readonly project: ClusterContext['project'];
  readonly patience: WaitLimits;
  readonly onStage: Emit;
  readonly emit: Emit;
  readonly onObservation: ClusterContext['onObservation'];
  readonly onLikely: ClusterContext['onLikely'];
  readonly signal: AbortSignal;
}

export interface RestoredCluster {
  readonly name: string;
  readonly infraId: string;
  readonly backup: Pick<BackupManifest, 'takenAt' | 'etcd'>;
  /** Of the inventory, without a machine. */
  readonly lostWorkers: readonly string[];
}

const journalPath = `${ownFolder}/restore-journal`;

export async function restoreCluster(options: RestoreOptions): Promise<RestoredCluster> {
  const { host, dir, file } = options;
  const cluster = await mustFindOwnMachines(host, dir, 'restore');
  await using _ = await claimFolder(host, dir, 'restore');
  const backup = await openBackup({ host, dir, file, cluster });
  const path = join(dir, journalPath);
  const decision = decideRestore({
    sha256: backup.manifest.snapshot.sha256,
    underWay: restoreUnderWay(await readJournal(host.files, path)),
    machines: await cluster.platform.listMachines(cluster.name),
    mayReplace: options.replacesMasters,
  });
  refuse(decision);
  if (decision.kind === 'begin') await host.files.remove(path);
  {
    await using journal = await openJournal(host.files, path);
    const context: RestoreContext = {
      ...options,
      backup,
      journal,
      destroyed: decision.kind === 'begin' ? decision.destroyed : [],
      keepsBootstrap: false,
      pause: undefined,
      plan: produced('the plan of the cluster'),
      image: produced('the machine image'),
      bootkubeEnvironment: produced('the images of the release'),
    };
    const { clock } = host;
    await runStages({ stages: restoreStages, context, journal, clock, emit: options.onStage, signal: options.signal });
    await keepRun({ host, dir, platform: cluster.platform, name: cluster.name, records: journal.records });
  }
  // Without the journal, the next restore is another one, and refuses to write over these masters.
  await host.files.remove(path);
  await host.files.remove(join(dir, restoreFolder));
  const machines = new Set((await cluster.platform.listMachines(cluster.name)).map(({ name }) => name));
  const lost = cluster.inventory.machines.filter(({ name, role }) => role === 'worker' && !machines.has(name));
  const { takenAt, etcd } = backup.manifest;
  return {
    name: cluster.clusterName,
    infraId: cluster.name,
    backup: { takenAt, etcd },
    lostWorkers: lost.map(({ name }) => name),
  };
}

function refuse(decision: RestoreDecision): void {
  if (decision.kind === 'masters-live') throw recoveryErrors.MASTERS_LIVE(decision);
  if (decision.kind === 'another-under-way') throw recoveryErrors.UNDER_WAY(decision);
}
