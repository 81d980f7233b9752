// The record of the run that made a cluster: moments of its machines, of its load balancer and of `create cluster`
// itself, in one list. It is in the asset folder because the timeline of the bootstrap machine is removed with that
// machine; it stays when the cluster is destroyed.
import { join } from 'node:path';
import { z } from 'zod';
import { ownFolder } from '../contract/asset-folder.ts';
import type { Host } from '../host/host.ts';
import type { JournalRecord } from '../workflow/journal.ts';

const runMomentSchema = z.object({
  atMs: z.number(),
  /** A machine, or one of the two names below. */
  machine: z.string(),
  by: z.string(),
  step: z.string(),
  state: z.enum(['began', 'moved', 'done', 'failed']),
  text: z.string().exactOptional(),
  key: z.string().exactOptional(),
});
export type RunMoment = z.output<typeof runMomentSchema>;

/** Stand in place of the name of a machine. */
export const commandName = 'create cluster';
export const loadBalancerName = 'load balancer';

const runRecordSchema = z.object({ format: z.literal(1), cluster: z.string(), moments: z.array(runMomentSchema) });
export type RunRecord = z.output<typeof runRecordSchema>;

const recordPath = `${ownFolder}/run.json`;

export async function readRunRecord(host: Pick<Host, 'files'>, dir: string): Promise<RunRecord | undefined> {
  const content = await host.files.readIfPresent(join(dir, recordPath));
  if (content === undefined) return undefined;
  return runRecordSchema.safeParse(JSON.parse(Buffer.from(content).toString('utf8'))).data;
}

export async function writeRunRecord(host: Pick<Host, 'files'>, dir: string, record: RunRecord): Promise<void> {
  const moments = record.moments.map((moment) => JSON.stringify(moment)).join(',\n');
  const head = `{"format":1,"cluster":${JSON.stringify(record.cluster)},"moments":[\n`;
  await host.files.write(join(dir, recordPath), `${head}${moments}\n]}\n`, { mode: 0o600, isDurable: false });
}

/**
 * The kept moments, except those of machines that can be read now, and the moments that were read now. Kept moments
 * that are older than the run in the journal belong to an earlier cluster of the same folder and are dropped.
 */
export function mergedRecord(kept: RunRecord | undefined, seen: RunRecord): RunRecord {
  const names = new Set(seen.moments.map(({ machine }) => machine));
  const commandTimes = seen.moments.filter(({ machine }) => machine === commandName).map(({ atMs }) => atMs);
  const beganMs = Math.min(...commandTimes);
  const isOfThisRun = ({ machine, atMs }: RunMoment): boolean =>
    !names.has(machine) && (commandTimes.length === 0 || atMs >= beganMs);
  const rest = kept?.cluster === seen.cluster ? kept.moments.filter(isOfThisRun) : [];
  return { ...seen, moments: [...rest, ...seen.moments].toSorted((a, b) => a.atMs - b.atMs) };
}

/** The stages of `create cluster`, from its journal: each record says when its stage began and when it was done. */
export function stageMoments(records: readonly JournalRecord[]): readonly RunMoment[] {
  return records.flatMap((record) => {
    const { kind, at, began, stage } = record;
    if (kind !== 'stage' || typeof began !== 'string' || typeof stage !== 'string') return [];
    const of = { machine: commandName, by: commandName, step: stage } as const;
    return [
      { ...of, atMs: Date.parse(began), state: 'began' },
      { ...of, atMs: Date.parse(at), state: 'done' },
    ] as const;
  });
}
