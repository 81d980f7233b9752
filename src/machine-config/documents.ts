// YAML and JSON files with several documents, read as the API's own clients read them: YAML 1.1 without its clock times
// and dates, so that `mode: 0644` is octal and `on` is true. A broken document is a mistake with file, line and column,
// and never keeps the others from being read.
import type { Document, Tags } from 'yaml';
import { isNode, LineCounter, parseDocument } from 'yaml';

export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Mistake {
  readonly severity: 'error' | 'warning';
  readonly place: Place;
  readonly message: string;
}

export type FieldPath = readonly (string | number)[];

export interface ReadDocument {
  readonly value: unknown;
  /** Where the value at the path stands, or the innermost value around it that the text has. */
  readonly placeOf: (path: FieldPath) => Place;
}

/** No object of the API can be larger than a third of this; what is larger is not even parsed. */
export const documentLimitBytes = 4 * 1024 * 1024;

export function placeText({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

export function mistakeText({ place, severity, message }: Mistake): string {
  return `${placeText(place)}  ${severity === 'warning' ? 'warning: ' : ''}${message}`;
}

export function readDocuments(
  file: string,
  text: string,
): { readonly documents: readonly ReadDocument[]; readonly mistakes: readonly Mistake[] } {
  const documents: ReadDocument[] = [];
  const mistakes: Mistake[] = [];
  for (const piece of splitDocuments(text)) {
    if (piece.text.length > documentLimitBytes) {
      const megabytes = (piece.text.length / 1024 / 1024).toFixed(1);
      const message = `this document has ${megabytes} MB; an object of the API has at most 1.5 MB`;
      mistakes.push({ severity: 'error', place: { file, line: piece.firstLine, column: 1 }, message });
      continue;
    }
    const read = readDocument(file, piece);
    if ('mistakes' in read) mistakes.push(...read.mistakes);
    else if (read.value !== null && read.value !== undefined) documents.push(read);
  }
  return { documents, mistakes };
}

interface Piece {
  readonly text: string;
  readonly firstLine: number;
}

/** `---` at the start of a line always ends a document, whatever it stands in (YAML 1.2 §9.1.2). */
function splitDocuments(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  let firstLine = 1;
  const endAt = (end: number): void => {
    const piece = text.slice(start, end);
    if (piece.trim() !== '') pieces.push({ text: piece, firstLine });
    firstLine += countLines(piece);
  };
  // A marker with nothing else on its line belongs to neither document; one with content begins its document.
  for (const marker of text.matchAll(/^---(?:[ \t]*\r?\n|(?=[ \t])|$)/gm)) {
    endAt(marker.index);
    const isAlone = marker[0].endsWith('\n');
    start = isAlone ? marker.index + marker[0].length : marker.index;
    if (isAlone) firstLine += 1;
  }
  endAt(text.length);
  return pieces;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function readDocument(file: string, piece: Piece): ReadDocument | { readonly mistakes: readonly Mistake[] } {
  const asJson = piece.text.trimStart().startsWith('{') ? parseJson(piece.text) : undefined;
  if (asJson !== undefined) return { value: asJson, placeOf: placesIn(file, piece) };

  const parsed = parseYaml(piece.text);
  const { document, lines } = parsed;
  const at = (offset: number): Place => placeAt(file, piece, lines.linePos(offset));
  if (document.errors.length > 0) {
    return {
      mistakes: document.errors.map((error) => ({
        severity: 'error',
        place: at(error.pos[0]),
        message: `not YAML: ${(error.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '')}`,
      })),
    };
  }
  try {
    return { value: document.toJS(), placeOf: placesIn(file, piece, parsed) };
  } catch (error) {
    // Aliases that would unfold without end.
    return { mistakes: [{ severity: 'error', place: at(0), message: `not usable YAML: ${String(error)}` }] };
  }
}

/** Syntax trees are many times larger than their text, and most are never asked: one that was dropped is made again. */
function placesIn(file: string, piece: Piece, parsed?: ParsedYaml): ReadDocument['placeOf'] {
  let kept = parsed === undefined ? undefined : new WeakRef(parsed);
  return (path) => {
    const found = kept?.deref() ?? parseYaml(piece.text);
    kept = new WeakRef(found);
    return placeIn(file, piece, { ...found, path });
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ParsedYaml {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

const unlikeGo = new Set(['tag:yaml.org,2002:timestamp']);

function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const customTags = (tags: Tags): Tags =>
    tags.filter((tag) => typeof tag === 'string' || (!unlikeGo.has(tag.tag) && tag.format !== 'TIME'));
  const document = parseDocument(text, { version: '1.1', lineCounter: lines, prettyErrors: true, customTags });
  return { document, lines };
}

function placeIn(file: string, piece: Piece, found: ParsedYaml & { readonly path: FieldPath }): Place {
  const { document, lines, path } = found;
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return placeAt(file, piece, lines.linePos(node.range[0]));
  }
  return placeAt(file, piece, lines.linePos(document.contents?.range?.[0] ?? 0));
}

function placeAt(file: string, piece: Piece, { line, col }: { readonly line: number; readonly col: number }): Place {
  return { file, line: Math.max(line, 1) + piece.firstLine - 1, column: Math.max(col, 1) };
}
