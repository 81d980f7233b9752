// From an install-config to a cluster that stands alone. Machines do the work; this follows it, removes the bootstrap
// machine when that is safe, and may be killed and run again at any moment.
import { join } from 'node:path';
import { clusterNames } from '../assets/cluster-names.ts';
import { installConfig } from '../assets/install-config.ts';
import type { Host } from '../host/host.ts';
import { masterCount } from '../install-config/cluster-facts.ts';
import { runStages } from '../workflow/engine.ts';
import type { Emit } from '../workflow/events.ts';
import { openJournal } from '../workflow/journal.ts';
import { claimFolder } from './cluster-dir.ts';
import { assetsOf, type ClusterContext, clusterOf } from './cluster-context.ts';
import { keepRun } from '../waterfall/collect-run.ts';
import { createStages } from './create-stages.ts';
import { platformName } from './machine-requests.ts';
import type { ClusterSight } from './observe-cluster.ts';
import { expectedNodes } from './stages/nodes.ts';
import type { WaitLimits } from './wait-for-progress.ts';
import { clusterJournalPath } from '../contract/asset-folder.ts';

export interface CreateClusterOptions {
  readonly host: Host;
  readonly dir: string;
  readonly project: ClusterContext['project'];
  readonly patience: WaitLimits;
  /** Leaves the bootstrap machine for a person to look into. */
  readonly keepsBootstrap: boolean;
  /** What the stages of this command do. */
  readonly onStage: Emit;
  /** What happens below them: single assets, parts of the release, warnings. */
  readonly emit: Emit;
  readonly onSight: (sight: ClusterSight) => void;
  readonly onLikely: ClusterContext['onLikely'];
  readonly signal: AbortSignal;
}

export interface CreatedCluster {
  readonly name: string;
  readonly infraId: string;
  readonly domain: string;
  readonly hostPort: number;
  readonly masters: number;
  readonly nodes: readonly string[];
}

export async function createCluster(options: CreateClusterOptions): Promise<CreatedCluster> {
  const { host, dir, project, emit, onSight, onLikely, patience, signal, keepsBootstrap } = options;
  await using _ = await claimFolder(host, dir, 'create cluster');
  await using journal = await openJournal(host.files, join(dir, clusterJournalPath));
  const context: ClusterContext = {
    host,
    dir,
    project,
    journal,
    emit,
    onSight,
    onLikely,
    patience,
    keepsBootstrap,
    found: {},
  };
  await runStages({ stages: createStages, context, journal, clock: host.clock, emit: options.onStage, signal });
  await keepRun({ host, dir, cluster: platformName(assetsOf(context)), records: journal.records });
  const { clusterName, domain } = assetsOf(context).value(clusterNames);
  return {
    name: clusterName,
    infraId: platformName(assetsOf(context)),
    domain,
    hostPort: clusterOf(context).hostPort,
    masters: masterCount(assetsOf(context).value(installConfig)),
    nodes: expectedNodes(context),
  };
}
