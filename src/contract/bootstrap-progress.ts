// What the bootstrap machine does or waits for: a file on that machine, mirrored into the API. Written by the programs
// of the bootstrap, read by `create cluster`, `status` and `wait-for`.
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { stageProgressSchema } from './missing-schema.ts';

export const progressFile = '/var/lib/firstlight/progress.json';

export const bootstrapProgressSchema = z.object({
  stage: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  at: z.iso.datetime(),
  /** Undefined before a stage has reported anything, and when it has ended. */
  progress: stageProgressSchema.exactOptional(),
  /** Why the stage failed. */
  reason: z.string().exactOptional(),
  isComplete: z.boolean(),
});
export type BootstrapProgress = z.output<typeof bootstrapProgressSchema>;

/** Replaces the whole file: the last writer wins. */
export async function writeBootstrapProgress(files: Files, progress: BootstrapProgress): Promise<void> {
  await files.makeFolder(dirname(progressFile));
  await files.write(progressFile, `${JSON.stringify(progress, null, 2)}\n`);
}

/** Undefined where the text is no progress. */
export function parseBootstrapProgress(text: string): BootstrapProgress | undefined {
  try {
    return bootstrapProgressSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
