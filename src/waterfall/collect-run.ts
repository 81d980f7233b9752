// Collects the moments of a run from the journal of `create cluster` and, through the platform, from the machines and
// the load balancer; keeps them in the record of the run.
import type { Moment } from '../contract/timeline.ts';
import type { Host } from '../host/host.ts';
import type { Platform } from '../platform/platform.ts';
import type { JournalRecord } from '../workflow/journal.ts';
import {
  loadBalancerName,
  mergedRecord,
  type RunMoment,
  type RunRecord,
  readRunRecord,
  stageMoments,
  writeRunRecord,
} from './run-record.ts';

export interface CollectRunOptions {
  readonly host: Host;
  readonly dir: string;
  readonly platform: Platform;
  /** The platform's name of the cluster. */
  readonly name: string;
  /** The records of the journal of `create cluster`. */
  readonly records: readonly JournalRecord[];
}

/** What can be read now, and what was kept of machines that are gone. */
export async function collectRun(options: CollectRunOptions): Promise<RunRecord> {
  const { host, dir, platform, name: cluster, records } = options;
  const machines = await platform.listMachines(cluster);
  const moments = await Promise.all([
    ...machines.map(async ({ name }) => of(name, await platform.machineMoments({ cluster, machine: name }))),
    platform.balancerMoments(cluster).then((found) => of(loadBalancerName, found)),
  ]);
  const seen: RunRecord = { format: 1, cluster, moments: [...stageMoments(records), ...moments.flat()] };
  return mergedRecord(await readRunRecord(host, dir), seen);
}

function of(machine: string, moments: readonly Moment[]): readonly RunMoment[] {
  return moments.map(({ at, ...moment }) => ({ ...moment, machine, atMs: Date.parse(at) }));
}

/** Keeps the record of the run. Nothing depends on it, so a failure here must not make a command fail. */
export async function keepRun(options: CollectRunOptions): Promise<void> {
  try {
    await writeRunRecord(options.host, options.dir, await collectRun(options));
  } catch {
    // The machines still have their own timelines.
  }
}
