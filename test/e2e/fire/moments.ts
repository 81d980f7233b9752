// How far a run of `create cluster` is, as a line of moments from the first byte to the end, read from the outside: the
// command's own journal and the file in which the bootstrap machine says what it does. Moments are where faults begin.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { handoffStages, mastersStages, stages } from '../../../src/bootkube/stages.ts';
import { clusterJournalPath } from '../../../src/contract/asset-folder.ts';
import { machinePaths } from '../../../src/platform/local/cluster-folder.ts';

/** Before the machines: the command's own stages, each a moment when it is on record. */
const before = ['start', 'assets', 'release', 'machines'] as const;
/** On the bootstrap machine: each a moment when it is named as the stage under way. */
const bootstrap = [...stages, ...mastersStages, ...handoffStages].map(({ name }) => name);
const after = ['add-ons', 'nodes', 'complete', 'removed', 'finished'] as const;

export const moments: readonly string[] = [...before, ...bootstrap, ...after];

/** The number of a moment on the line; later ones are greater. */
export function rankOf(moment: string): number {
  const rank = moments.indexOf(moment);
  if (rank < 0) throw new Error(`there is no moment ${moment}`);
  return rank;
}

export function isBefore(moment: string, other: string): boolean {
  return rankOf(moment) < rankOf(other);
}

/** The latest moment that can be seen now. */
export function latestMoment(dir: string): string {
  const records = recordedStages(dir);
  const seen = ['start', ...before.slice(1).filter((stage) => records.includes(stage))];
  const progress = progressOf(dir);
  if (progress !== undefined) seen.push(progress);
  if (records.includes('bootstrap')) seen.push('removed');
  if (records.includes('nodes')) seen.push('finished');
  return seen.reduce((a, b) => (rankOf(a) < rankOf(b) ? b : a));
}

/** The platform's name of the cluster; undefined until its assets are there. */
export function infraIdOf(dir: string): string | undefined {
  const text = textOf(join(dir, 'metadata.json'));
  return text === undefined ? undefined : (JSON.parse(text) as { infraID: string }).infraID.toLowerCase();
}

function recordedStages(dir: string): readonly string[] {
  const lines = (textOf(join(dir, clusterJournalPath)) ?? '').split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line.slice(line.indexOf(' '))) as { stage: string }).stage);
}

function progressOf(dir: string): string | undefined {
  const infraId = infraIdOf(dir);
  if (infraId === undefined) return undefined;
  const text = textOf(join(machinePaths(infraId, 'bootstrap').upper, 'var/lib/firstlight/progress.json'));
  if (text === undefined || text === '') return undefined;
  const { stage, isComplete } = JSON.parse(text) as { stage: string; isComplete: boolean };
  if (isComplete) return 'complete';
  return moments.includes(stage) ? stage : undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
