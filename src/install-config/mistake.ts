// One thing that is wrong (or only unusual) in an install-config, and the word that its author probably meant.
import { closest, distance } from 'fastest-levenshtein';
import type { Mistake } from '../source-text/mistake.ts';
import { clipAt } from '../source-text/quoted-text.ts';

export interface ConfigMistake extends Mistake {
  /** `hosts[2].name`; empty for the file as a whole. */
  readonly path: string;
  /** The offending text, quoted and clipped; `[redacted]` for secrets, empty where something is missing. */
  readonly text: string;
}

/** The word a user most likely meant, or undefined when none is near. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  if (words.length === 0 || word.length > clipAt) return undefined;
  const lower = word.toLowerCase();
  const best = closest(
    lower,
    words.map((candidate) => candidate.toLowerCase()),
  );
  const found = words.find((candidate) => candidate.toLowerCase() === best);
  return distance(lower, best) <= Math.max(1, Math.floor(best.length / 3)) ? found : undefined;
}
