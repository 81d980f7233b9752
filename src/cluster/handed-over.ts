// Whether the masters carry the cluster: this decides if a bootstrap machine may be made or removed. The journal of the
// folder records it when `create cluster` saw it; otherwise it is read from the machines and the API.
import { handoffConfigMap, isHandoffComplete } from '../contract/cluster-objects.ts';
import type { Host } from '../host/host.ts';
import { lastRecords } from '../workflow/engine.ts';
import type { JournalRecord } from '../workflow/journal.ts';
import { connectCluster } from './cluster-kubeconfig.ts';
import type { ClusterHandle } from './find-cluster.ts';
import { observeCluster } from './observe-cluster.ts';

/** The stage whose record in the journal means that the bootstrap machine is not needed any more. */
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
    // Without an answer of the API the bootstrap machine may still be needed.
    return false;
  }
}
