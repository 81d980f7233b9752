// What somebody waits for, as a value: it travels in state files and events, and movement is a key that was not there
// before. Nobody parses its words; screens and errors make their sentence with `missingText`.
import { z } from 'zod';

export const missingSchema = z.object({
  /** The machine, member or object that the wait is about. */
  who: z.string(),
  /** What is missing or wrong with it: a phrase that completes a sentence about `who`. */
  what: z.string(),
  /** Identifies the state without amounts: waiting for the same thing again has the same key. */
  key: z.string(),
  /** Amounts and last answers, which may change without anything having moved. */
  detail: z.string().exactOptional(),
});
export type Missing = z.output<typeof missingSchema>;

/** `master-1 has not caught up (12 entries behind)`. */
export function missingText({ who, what, detail }: Missing): string {
  return `${who} ${what}${detail === undefined ? '' : ` (${detail})`}`.trim();
}
