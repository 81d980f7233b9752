// One thing that is wrong (or only odd) in an install-config, with the place to put the cursor, and how a list of
// them reads on a screen. Text taken from the file is quoted and clipped here, so that no control character of a
// foreign file ever reaches a terminal and no secret ever reaches a log.
import { closest, distance } from 'fastest-levenshtein';

export type FieldPath = readonly (string | number)[];

export interface Mistake {
  readonly file: string;
  /** From 1, as editors count. */
  readonly line: number;
  readonly column: number;
  /** `hosts[2].name`; empty for the file as a whole. */
  readonly path: string;
  /** The offending text, quoted and clipped; `[redacted]` for secrets, empty where something is missing. */
  readonly text: string;
  /** A whole sentence without a full stop. */
  readonly message: string;
  /** What would be right instead. */
  readonly allowed?: string;
  /** The nearest word that would be right. */
  readonly suggestion?: string;
}

/** A file that is wrong everywhere is not worth more lines than this. */
export const mistakesMax = 100;

const clipAt = 60;
export const redacted = '[redacted]';

/** Whether one path leads to or through the other. */
export function areRelated(a: FieldPath, b: FieldPath): boolean {
  const shared = Math.min(a.length, b.length);
  return a.slice(0, shared).every((part, i) => part === b[i]);
}

export function fieldPathText(path: FieldPath): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${plainKey(part)}`))
    .join('');
}

function plainKey(key: string): string {
  return /^[$\w-]{1,60}$/.test(key) ? key : quoted(key);
}

/** A password in a URL, credentials of a registry, a private key: secret in whatever field they stand by mistake. */
const secretShapes = /\/\/[^/\s]*@|["']auths?["']|PRIVATE KEY/;

/** A text, number or truth value of the file as a person would recognise it, safe to print. */
export function quoted(value: string | number | boolean): string {
  if (typeof value === 'string' && secretShapes.test(value)) return redacted;
  const isLong = typeof value === 'string' && value.length > clipAt;
  const text = JSON.stringify(isLong ? `${value.slice(0, clipAt)}…` : value);
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** The word a person most likely meant, or undefined when none is near. */
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

/** One line per mistake, places aligned: `install-config.yaml:5:1  controlPlan: unknown field; …`. */
export function mistakeLines(mistakes: readonly Mistake[]): readonly string[] {
  const places = mistakes.map((mistake) => `${mistake.file}:${mistake.line}:${mistake.column}`);
  const width = Math.max(0, ...places.map((place) => place.length));
  return mistakes.map((mistake, i) => `${(places[i] ?? '').padEnd(width)} ${mistakeSentence(mistake)}`);
}

/** The mistake without its place. */
export function mistakeSentence(mistake: Mistake): string {
  if (mistake.suggestion !== undefined) return `${mistake.message}; did you mean ${mistake.suggestion}?`;
  return mistake.allowed === undefined ? mistake.message : `${mistake.message}; allowed: ${mistake.allowed}`;
}
