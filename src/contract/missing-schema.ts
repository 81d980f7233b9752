// The schemas of `Missing` (missing.ts) and `StageProgress` (stage-progress.ts), for programs that read state files.
import { z } from 'zod';
import type { Missing } from './missing.ts';
import type { StageProgress } from './stage-progress.ts';

export const missingSchema = z.object({
  who: z.string(),
  what: z.string(),
  key: z.string(),
  detail: z.string().exactOptional(),
  machines: z.array(z.string()).readonly().exactOptional(),
  duty: z.string().exactOptional(),
}) satisfies z.ZodType<Missing>;

export const stageProgressSchema = z.union([
  z.object({ missing: z.array(missingSchema).readonly(), waiter: z.string().exactOptional() }),
  z.object({ work: z.string(), key: z.string() }),
]) satisfies z.ZodType<StageProgress>;
