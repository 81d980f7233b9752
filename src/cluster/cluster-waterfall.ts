// Where the time of `create cluster` went: from the machines while they are there, from the record of the run for those
// that are gone.
import { join } from 'node:path';
import { clusterJournalPath } from '../contract/asset-folder.ts';
import type { Host } from '../host/host.ts';
import { collectRun } from '../waterfall/collect-run.ts';
import { waterfallOf } from '../waterfall/waterfall.ts';
import type { Waterfall } from '../waterfall/waterfall-rows.ts';
import { readJournal } from '../workflow/journal.ts';
import { clusterErrors } from './errors.ts';
import { mustFindCluster } from './find-cluster.ts';

export async function clusterWaterfall(host: Host, dir: string): Promise<Waterfall> {
  const { platform, name, clusterName } = await mustFindCluster(host, dir);
  const records = await readJournal(host.files, join(dir, clusterJournalPath));
  const record = await collectRun({ host, dir, platform, name, records });
  if (record.moments.length === 0) throw clusterErrors.NO_RUN({ dir });
  return waterfallOf(record, `create cluster · ${clusterName}`);
}
