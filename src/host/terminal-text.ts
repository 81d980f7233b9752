// What reaches a terminal: text, in which every control character is shown as an escape, and sequences that the
// terminal obeys. Only values of `TerminalSequence` become sequences, so text of another party never moves the cursor,
// changes colours or the order of letters, or sets a title.

/** What the terminal is told to do; without a place for text. */
export type TerminalSequence =
  | { readonly color: TerminalColor }
  | { readonly clear: 'to-line-end' | 'to-screen-end' }
  /** To the beginning of the line this many rows above. */
  | { readonly up: number };
export type TerminalColor = keyof typeof colors;

const colors = { none: '0', dim: '2', red: '31', green: '32', yellow: '33', cyan: '36' } as const;
const clears = { 'to-line-end': 'K', 'to-screen-end': 'J' } as const;

/** C0, DEL, C1, format characters (among them those that turn the direction of text), separators, half characters. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Lines stay lines; all else that cannot be seen is shown as JSON writes it, so that JSON stays the same value. */
export function shownText(text: string): string {
  return text.replaceAll(unseen, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

/** For a place that is one line: a message with lines of its own must not pass for several of ours. */
export function shownLine(text: string): string {
  return text.replaceAll(unseen, escaped);
}

export function drawnText(pieces: readonly (string | TerminalSequence)[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? shownText(piece) : sequence(piece))).join('');
}

function sequence(piece: TerminalSequence): string {
  if ('color' in piece) return `\u001B[${colors[piece.color]}m`;
  if ('clear' in piece) return `\u001B[${clears[piece.clear]}`;
  return piece.up === 0 ? '' : `\u001B[${piece.up}A\r`;
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/** A character beyond the first plane is two escapes, as in JSON. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return shortEscapes[character] ?? units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
