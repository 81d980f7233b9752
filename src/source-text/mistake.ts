// A mistake at a place of a file, and how mistakes read on a screen: `file:line:column  field: words`.
import { type Place, placeText } from './place.ts';

export interface Mistake extends Place {
  /** A whole sentence without a full stop. */
  readonly message: string;
  /** What would be right instead. */
  readonly allowed?: string;
  /** The nearest word that would be right. */
  readonly suggestion?: string;
}

/** Only an error keeps the document from being used. */
export interface JudgedMistake extends Mistake {
  readonly severity: 'error' | 'warning';
}

/** More lines than this do not help: the file is wrong everywhere. */
export const mistakesMax = 100;

/** The mistake without its place. */
export function mistakeSentence({ message, allowed, suggestion }: Omit<Mistake, keyof Place>): string {
  if (suggestion !== undefined) return `${message}; did you mean ${suggestion}?`;
  return allowed === undefined ? message : `${message}; allowed: ${allowed}`;
}

export function mistakeText(mistake: JudgedMistake): string {
  return `${placeText(mistake)}  ${mistake.severity === 'warning' ? 'warning: ' : ''}${mistakeSentence(mistake)}`;
}

/** One line per mistake, sentences aligned behind the longest place. */
export function mistakeLines(mistakes: readonly Mistake[]): readonly string[] {
  const places = mistakes.map((mistake) => placeText(mistake));
  const width = Math.max(0, ...places.map((place) => place.length));
  return mistakes.map((mistake, i) => `${(places[i] ?? '').padEnd(width)} ${mistakeSentence(mistake)}`);
}
