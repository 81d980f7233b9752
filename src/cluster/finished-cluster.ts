// Whether the cluster of a folder is complete already. It reads a few files and sends one request to the API.
import { join } from 'node:path';
import { clusterJournalPath } from '../contract/asset-folder.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { lastRecords } from '../workflow/engine.ts';
import { openJournal } from '../workflow/journal.ts';
import { connectCluster } from './cluster-kubeconfig.ts';
import { listNodes, notReady } from './cluster-nodes.ts';
import type { CreatedCluster } from './create-cluster.ts';
import { findCluster } from './find-cluster.ts';

/** The cluster, when the journal says that it was completed and all of its machines are Ready nodes now. */
export async function finishedCluster(
  host: Host,
  dir: string,
  signal: AbortSignal,
): Promise<CreatedCluster | undefined> {
  const cluster = await findCluster(host, dir);
  if (cluster?.placed === undefined) return undefined;
  const { domain, apiEndpoint } = cluster.placed;
  await using journal = await openJournal(host.files, join(dir, clusterJournalPath));
  if (lastRecords(journal.records).get('operators')?.inputs['cluster'] !== cluster.name) return undefined;
  const expected = cluster.inventory.machines.filter(({ role }) => role !== 'bootstrap');
  const names = expected.map(({ name }) => name);
  try {
    await using client = await connectCluster(host, dir);
    if (notReady(names, await listNodes(client, signal)).length > 0) return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    return undefined;
  }
  return {
    name: cluster.clusterName,
    infraId: cluster.name,
    domain,
    ...(apiEndpoint === undefined ? {} : { hostPort: apiEndpoint.port }),
    masters: expected.filter(({ role }) => role === 'master').length,
    nodes: names,
  };
}
