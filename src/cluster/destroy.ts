// Destroys a cluster, or only its bootstrap machine. The journal is removed before the machines: if only the machines
// were gone, the next `create cluster` would read in the journal that masters carry the cluster.
import { join } from 'node:path';
import { clusterJournalPath } from '../contract/asset-folder.ts';
import type { Host } from '../host/host.ts';
import { ableTo, type ChangeContext } from '../platform/platform.ts';
import { keepRun } from '../waterfall/collect-run.ts';
import { openJournal } from '../workflow/journal.ts';
import { claimFolder } from './cluster-dir.ts';
import { clusterErrors } from './errors.ts';
import { mustFindOwnMachines } from './find-cluster.ts';
import { isHandedOver } from './handed-over.ts';
import { removeHostEndpoint } from './host-endpoint.ts';

export interface ClusterChange extends ChangeContext {
  readonly host: Host;
}

export interface Destroyed {
  readonly cluster: string;
  readonly machines: readonly string[];
}

/** It is no error when the cluster has no machines. */
export async function destroyWholeCluster(context: ClusterChange, dir: string): Promise<Destroyed> {
  const { host } = context;
  const { name, platform } = await mustFindOwnMachines(host, dir, 'destroy cluster');
  await using _ = await claimFolder(host, dir, 'destroy cluster');
  const machines = (await platform.listMachines(name)).map((machine) => machine.name);
  await host.files.remove(join(dir, clusterJournalPath));
  await ableTo(platform, 'destroyCluster')(context, name);
  await removeHostEndpoint(host, dir);
  return { cluster: name, machines };
}

export async function destroyBootstrap(
  context: ClusterChange,
  dir: string,
  { isForced }: { readonly isForced: boolean },
): Promise<Destroyed> {
  const { host } = context;
  const found = await mustFindOwnMachines(host, dir, 'destroy bootstrap');
  const { name, platform } = found;
  const known = await platform.listMachines(name);
  const machines = known.filter(({ role }) => role === 'bootstrap').map((machine) => machine.name);
  if (machines.length === 0) return { cluster: name, machines };
  await using journal = await openJournal(host.files, join(dir, clusterJournalPath));
  const isSafe = await isHandedOver({ host, dir, cluster: found, records: journal.records });
  if (!isSafe && !isForced) throw clusterErrors.NOT_HANDED_OVER({ dir });
  await keepRun({ host, dir, platform, name, records: journal.records });
  await ableTo(platform, 'destroyMachines')(context, name, machines);
  return { cluster: name, machines };
}
