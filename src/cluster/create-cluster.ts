// From an install-config to a complete cluster. The machines do the work; this command follows them and removes the
// bootstrap machine when that is safe. It may be killed and run again at any moment.
import { join } from 'node:path';
import { clusterJournalPath } from '../contract/asset-folder.ts';
import type { BootstrapPause } from '../contract/bootstrap-pause.ts';
import type { Host } from '../host/host.ts';
import { keepRun } from '../waterfall/collect-run.ts';
import { runStages } from '../workflow/engine.ts';
import type { Emit } from '../workflow/events.ts';
import { openJournal } from '../workflow/journal.ts';
import { type ClusterContext, produced } from './cluster-context.ts';
import { claimFolder } from './cluster-dir.ts';
import { plannedNodes } from './cluster-plan.ts';
import { createStages } from './create-stages.ts';
import type { ClusterObservation } from './observe-cluster.ts';
import type { WaitLimits } from './wait-for-progress.ts';

export interface CreateClusterOptions {
  readonly host: Host;
  readonly dir: string;
  readonly project: ClusterContext['project'];
  readonly patience: WaitLimits;
  /** Keeps the bootstrap machine, so that a person can look into it. */
  readonly keepsBootstrap: boolean;
  /** Where the bootstrap is held for a person; undefined lets it run. */
  readonly pause: BootstrapPause | undefined;
  /** Events of the stages of this command. */
  readonly onStage: Emit;
  /** Events of smaller steps: single assets, parts of the release, warnings. */
  readonly emit: Emit;
  readonly onObservation: (observed: ClusterObservation) => void;
  readonly onLikely: ClusterContext['onLikely'];
  readonly signal: AbortSignal;
}

export interface CreatedCluster {
  readonly name: string;
  readonly infraId: string;
  readonly domain: string;
  /** The port of this host that reaches the API; absent where the API is reached by its name. */
  readonly hostPort?: number;
  readonly masters: number;
  readonly nodes: readonly string[];
}

export async function createCluster(options: CreateClusterOptions): Promise<CreatedCluster> {
  const { host, dir, project, emit, onObservation, onLikely, patience, signal, keepsBootstrap, pause } = options;
  await using _ = await claimFolder(host, dir, 'create cluster');
  await using journal = await openJournal(host.files, join(dir, clusterJournalPath));
  const context: ClusterContext = {
    host,
    dir,
    project,
    command: 'create cluster',
    journal,
    emit,
    onObservation,
    onLikely,
    patience,
    keepsBootstrap,
    pause,
    plan: produced('the plan of the cluster'),
    image: produced('the machine image'),
    bootkubeEnvironment: produced('the images of the release'),
  };
  await runStages({ stages: createStages, context, journal, clock: host.clock, emit: options.onStage, signal });
  const plan = context.plan.get();
  await keepRun({ host, dir, ...plan, records: journal.records });
  const endpoint = (await plan.platform.findCluster(plan.name))?.apiEndpoint;
  return {
    name: plan.clusterName,
    infraId: plan.name,
    domain: plan.domain,
    ...(endpoint === undefined ? {} : { hostPort: endpoint.port }),
    masters: plan.machines.filter(({ role }) => role === 'master').length,
    nodes: plannedNodes(plan),
  };
}
