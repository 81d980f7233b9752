// What a stage does or waits for right now, as a value: it travels in events and in the progress file of the bootstrap.
import { z } from 'zod';
import { missingLine, missingSchema } from './missing.ts';

export const stageProgressSchema = z.union([
  z.object({
    missing: z.array(missingSchema).readonly(),
    /** The subject of the wait, where it is not the stage itself. */
    waiter: z.string().exactOptional(),
  }),
  z.object({
    work: z.string(),
    /** Identifies the piece of work; amounts that change without movement are not part of it. */
    key: z.string(),
  }),
]);
export type StageProgress = z.output<typeof stageProgressSchema>;

/** A piece of work. The text is its key, unless it contains amounts that may change without movement. */
export function working(work: string, key = work): StageProgress {
  return { work, key };
}

export function stageProgressText(progress: StageProgress): string {
  if ('work' in progress) return progress.work;
  const line = missingLine(progress.missing);
  return progress.waiter === undefined ? line : `${progress.waiter} waits: ${line}`;
}

export function stageProgressKey(progress: StageProgress): string {
  return 'work' in progress ? progress.key : progress.missing.map(({ key }) => key).join('; ');
}
