// The status file of the first boot: the machine writes it, and the platform reads it from outside the machine.
// Machines of different versions write it: only add fields.

import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';

/** Path inside the machine. */
export const firstBootStatusPath = '/var/lib/firstlight/first-boot.json';

const firstBootStatusSchema = z.object({
  /** `fetch` and `files` are Ignition's stages; `presets` enables units. The status `done` never changes again. */
  phase: z.enum(['fetch', 'files', 'presets', 'done', 'failed']),
  startedAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  /** What Ignition tries to fetch now, since when, and why the last attempt failed. */
  waitingFor: z
    .object({ url: z.string(), attempts: z.number(), since: z.iso.datetime(), reason: z.string().optional() })
    .optional(),
  /** Why the first boot failed. */
  reason: z.string().optional(),
  tookMs: z.number().optional(),
});

export type FirstBootStatus = z.infer<typeof firstBootStatusSchema>;

/** Returns undefined if the file does not exist or is not a valid status. */
export async function readFirstBootStatus(
  files: Pick<Files, 'readIfPresent'>,
  path: string,
): Promise<FirstBootStatus | undefined> {
  const content = await files.readIfPresent(path);
  if (content === undefined) return undefined;
  return firstBootStatusSchema.safeParse(jsonIfValid(content)).data;
}

/** `waiting for https://…/config/master: connection refused`; undefined while Ignition waits for nothing. */
export function firstBootWait({ waitingFor }: FirstBootStatus): string | undefined {
  if (waitingFor === undefined) return undefined;
  return `waiting for ${waitingFor.url}${waitingFor.reason === undefined ? '' : `: ${waitingFor.reason}`}`;
}

/** One line for a person, such as `waiting for https://…/config/master: connection refused, 12 s`. */
export function describeFirstBoot(status: FirstBootStatus, now: Date): string {
  const { waitingFor } = status;
  if (status.phase === 'done') return 'first boot done';
  if (status.phase === 'failed') return `first boot failed: ${status.reason ?? 'unknown reason'}`;
  if (waitingFor === undefined) return `first boot: ${status.phase}`;
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(waitingFor.since)) / 1000));
  return `${firstBootWait(status)}, ${seconds} s`;
}
