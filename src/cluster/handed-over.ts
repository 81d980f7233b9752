// Whether the masters carry the cluster: the one question that decides if a bootstrap machine may be made or removed.
// The journal of this folder knows it for what it saw itself; else the cluster is asked.
import { lastRecords } from '../workflow/engine.ts';
import type { Host } from '../host/host.ts';
import type { JournalRecord } from '../workflow/journal.ts';
import type { ClusterHandle } from './find-cluster.ts';
import { connectCluster } from './cluster-kubeconfig.ts';
import { observeCluster } from './observe-cluster.ts';
import { handoffConfigMap, isHandoffComplete } from '../contract/cluster-objects.ts';

/** The stage whose record in the journal says that the bootstrap machine had nothing left to give. */
export const handedOverStage = 'add-ons';

export interface HandoverQuestion {
  readonly host: Host;
  readonly dir: string;
  readonly cluster: ClusterHandle;
  readonly records: readonly JournalRecord[];
}

export async function isHandedOver({ host, dir, cluster, records }: HandoverQuestion): Promise<boolean> {
  if (lastRecords(records).get(handedOverStage)?.inputs['cluster'] === cluster.name) return true;
  const { machines, bootstrap } = await observeCluster(host, cluster);
  if (machines.length === 0) return false;
  if (machines.some(({ role }) => role === 'bootstrap')) return bootstrap?.isComplete === true;
  return recordSaysSo(host, dir);
}

async function recordSaysSo(host: Host, dir: string): Promise<boolean> {
  try {
    await using client = await connectCluster(host, dir);
    return isHandoffComplete(await client.find(handoffConfigMap, { deadlineMs: 5_000 }));
  } catch {
    // An API that does not answer has not said that it can do without the bootstrap machine.
    return false;
  }
}
