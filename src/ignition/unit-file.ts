// The reader of systemd unit files that Ignition uses to check units (go-systemd's lexer), for the same verdict on the
// same bytes. It is laxer than systemd in one place and stricter in another, and both are kept: text before the first
// section is skipped, and a stretch of 2048 bytes without a line end is refused when a step starts in front of it.

export type ReadUnit =
  | { readonly status: 'read'; readonly sectionsWithOptions: ReadonlySet<string> }
  | { readonly status: 'malformed'; readonly reason: string };

const bufferBytes = 4096;
const longestLineBytes = 2048;
const tooLong = `a line is longer than ${longestLineBytes} bytes`;
const [newline, carriageReturn] = [0x0a, 0x0d];
const goSpace = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

export function readUnit(contents: string): ReadUnit {
  const source = bufferedSource(Buffer.from(contents));
  const sectionsWithOptions = new Set<string>();
  const malformed = (reason: string): ReadUnit => ({ status: 'malformed', reason });

  let section: string | undefined;
  for (;;) {
    if (source.lineIsTooLong()) return malformed(tooLong);
    const rune = source.readRune();
    if (rune === undefined) return { status: 'read', sectionsWithOptions };

    if (rune === '[') {
      if (source.lineIsTooLong()) return malformed(tooLong);
      const name = source.readThrough(']');
      if (!name.endsWith(']')) return malformed('a section has no closing bracket');
      section = name.slice(0, -1);
      if (source.lineIsTooLong()) return malformed(tooLong);
      if (!goSpace.test(source.readThrough('\n'))) return malformed(`there is text after [${section}]`);
    } else if (rune === '#' || rune === ';') {
      if (source.lineIsTooLong()) return malformed(tooLong);
      skipComment(source);
    } else if (section !== undefined && !goSpace.test(rune)) {
      const mistake = readOption(source, rune);
      if (mistake !== undefined) return malformed(mistake);
      sectionsWithOptions.add(section);
    }
  }
}

interface BufferedSource {
  readonly lineIsTooLong: () => boolean;
  readonly readRune: () => string | undefined;
  readonly unread: (rune: string) => void;
  /** Up to and including the delimiter, or to the end. */
  readonly readThrough: (delimiter: string) => string;
}

/** A comment goes on when its line ends with a backslash, perhaps followed by one space. */
function skipComment(source: BufferedSource): void {
  while (/\\ ?$/.test(source.readThrough('\n').replace(/\n$/, '')));
}

/** Reads `name=value`, whose first character is already taken, with the value's continuation lines. */
function readOption(source: BufferedSource, first: string): string | undefined {
  source.unread(first);
  if (source.lineIsTooLong()) return tooLong;
  for (let rune = source.readRune(); rune !== '='; rune = source.readRune()) {
    if (rune === undefined || rune === '\n' || rune === '\r') return 'an option has no "="';
  }
  for (;;) {
    if (source.lineIsTooLong()) return tooLong;
    const line = source.readThrough('\n').replace(/\n$/, '');
    if (goSpace.test(line) || !line.endsWith('\\')) return undefined;
  }
}

/**
 * Go's bufio.Reader over the contents. How much happens to be buffered decides whether a long line is noticed, so the
 * buffer is kept as Go keeps it: filled up to 4096 bytes whenever more is needed.
 */
function bufferedSource(bytes: Buffer): BufferedSource {
  let at = 0;
  let filled = 0;
  let nextLineEnd = -1;
  const fill = () => {
    filled = Math.min(bytes.length, at + bufferBytes);
  };
  const lineIsTooLong = () => {
    if (filled - at < longestLineBytes) return false;
    if (nextLineEnd < at) {
      nextLineEnd = at;
      while (nextLineEnd < bytes.length && bytes[nextLineEnd] !== newline && bytes[nextLineEnd] !== carriageReturn) {
        nextLineEnd += 1;
      }
    }
    return nextLineEnd - at >= longestLineBytes;
  };
  const readRune = () => {
    if (at + runeBytes(bytes[at] ?? 0) > filled) fill();
    if (at >= filled) return undefined;
    const start = at;
    const lead = bytes[start] ?? 0;
    at += runeBytes(lead);
    return lead < 0x80 ? String.fromCharCode(lead) : bytes.toString('utf8', start, at);
  };
  const unread = (rune: string) => {
    at -= Buffer.byteLength(rune);
  };
  const readThrough = (delimiter: string) => {
    const start = at;
    for (;;) {
      const found = bytes.subarray(at, filled).indexOf(delimiter);
      if (found >= 0) {
        at += found + 1;
        break;
      }
      if (filled - at >= bufferBytes) at = filled;
      else if (filled === bytes.length) {
        at = filled;
        break;
      } else fill();
    }
    return bytes.toString('utf8', start, at);
  };
  return { lineIsTooLong, readRune, unread, readThrough };
}

function runeBytes(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}
