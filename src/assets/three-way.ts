// What to do with one file, from three digests: what we last generated, what we would generate now, what is on the disk.
// The rule of the house in one function: nothing a person wrote is overwritten, and nothing is kept that contradicts
// something else the person wrote.
import type { Digest } from '../workflow/digest.ts';

export type FileDecision = 'write' | 'keep-ours' | 'keep-theirs' | 'stay-removed' | 'conflict';

export interface ThreeDigests {
  /** What we generated last time; undefined when we never did. */
  readonly before: Digest | undefined;
  /** What we would generate now. */
  readonly now: Digest;
  /** What is on the disk; undefined when nothing is. */
  readonly disk: Digest | undefined;
  /** A removed file stays removed. */
  readonly mayBeRemoved: boolean;
}

export function decideFile({ before, now, disk, mayBeRemoved }: ThreeDigests): FileDecision {
  if (disk === undefined) return before !== undefined && mayBeRemoved ? 'stay-removed' : 'write';
  if (disk === now) return 'keep-ours';
  if (before === undefined) return 'keep-theirs';
  if (disk === before) return 'write';
  return now === before ? 'keep-theirs' : 'conflict';
}
