// Where the time of `create cluster` went: from the machines while they are there, from what was kept of the run when
// they are gone.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import type { Waterfall } from './waterfall-rows.ts';
import { readJournal } from '../workflow/journal.ts';
import { collectRun } from './collect-run.ts';
import { clusterErrors } from '../cluster/errors.ts';
import { mustFindCluster } from '../cluster/find-cluster.ts';
import { waterfallOf } from './waterfall.ts';
import { clusterJournalPath } from '../contract/asset-folder.ts';

export async function clusterWaterfall(host: Host, dir: string): Promise<Waterfall> {
  const { platform, name, clusterName } = await mustFindCluster(host, dir);
  const records = await readJournal(host.files, join(dir, clusterJournalPath));
  const record = await collectRun({ host, dir, platform, name, records });
  if (record.moments.length === 0) throw clusterErrors.NO_RUN({ dir });
  return waterfallOf(record, `create cluster · ${clusterName}`);
}
