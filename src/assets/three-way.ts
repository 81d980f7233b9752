// Decides what happens to one file from three digests: last generated, generated now, on the disk.
// Nothing that a user wrote is overwritten, and no edit is kept that contradicts another change of the user.
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
