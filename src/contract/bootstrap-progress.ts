// The progress file: what the bootstrap machine does or waits for. The programs of the bootstrap write it on that
// machine and copy it into the API. `create cluster`, `status` and `wait-for` read it.

import { dirname } from 'node:path';
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { handoffConfigMap, isHandoffComplete, progressConfigMap, progressKey } from './cluster-objects.ts';
import { stageProgressSchema } from './missing-schema.ts';

export const progressFile = '/var/lib/firstlight/progress.json';

export const bootstrapProgressSchema = z.object({
  stage: z.string(),
  /** `paused`: held before this stage (bootstrap-pause.ts). */
  state: z.enum(['running', 'done', 'failed', 'paused']),
  at: z.iso.datetime(),
  /** Undefined before the stage has reported anything, and after the stage has ended. */
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

/** Returns undefined if the text is not valid progress. */
export function parseBootstrapProgress(text: string): BootstrapProgress | undefined {
  return bootstrapProgressSchema.safeParse(jsonIfValid(text)).data;
}

/** From its copy in the API; undefined where there is none. */
export function readMirroredProgress(configMap: { readonly [field: string]: unknown } | undefined) {
  const data = (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
  return parseBootstrapProgress(data[progressKey] ?? '');
}

/** The bootstrap machine may be gone before it has copied its last word. */
const silenceMs = 60_000;

/**
 * Whether the bootstrap machine needs the masters for nothing more. What a new cluster can do without begins then: a
 * small host has all its processors in use until its add-ons run.
 */
export function isBootstrapOver(
  configMaps: readonly { readonly metadata: { readonly name: string }; readonly [field: string]: unknown }[],
  now: Date,
): boolean {
  const find = (name: string) => configMaps.find(({ metadata }) => metadata.name === name);
  if (!isHandoffComplete(find(handoffConfigMap.name))) return false;
  const progress = readMirroredProgress(find(progressConfigMap.name));
  return progress === undefined || progress.isComplete || now.getTime() - Date.parse(progress.at) > silenceMs;
}
