// What the bootstrap machine does or waits for: a file on that machine, mirrored into the API. Written by the programs
// of the bootstrap, read by `create cluster`, `status` and `wait-for`.
import { z } from 'zod';
import { stageProgressSchema } from './stage-progress.ts';

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
