// YAML and JSON files with several documents, read as the API's own clients read them: YAML 1.1 without its clock times
// and dates, so that `mode: 0644` is octal and `on` is true. A broken document is a mistake with file, line and column,
// and never keeps the others from being read.
import { type Document, parseDocument, type Tags } from 'yaml';
import type { FieldPath } from './field-path.ts';
import { jsonOffsets, readJsonWithPlaces } from './json.ts';
import type { JudgedMistake } from './mistake.ts';
import { type Place, positionsIn } from './place.ts';
import { fieldOffsets } from './yaml-nodes.ts';

export interface ReadDocument {
  readonly value: unknown;
  /** Where the value at the path stands, or the innermost value around it that the text has. */
  readonly placeOf: (path: FieldPath) => Place;
}

/** No object of the API can be larger than a third of this; a larger document is not even parsed. */
export const documentLimitBytes = 4 * 1024 * 1024;

export function readDocuments(
  file: string,
  text: string,
): { readonly documents: readonly ReadDocument[]; readonly mistakes: readonly JudgedMistake[] } {
  const documents: ReadDocument[] = [];
  const mistakes: JudgedMistake[] = [];
  const positionAt = positionsIn(text);
  for (const { text: piece, start } of splitDocuments(text)) {
    const placeAt = (offset: number): Place => ({ file, ...positionAt(start + Math.max(0, offset)) });
    if (piece.length > documentLimitBytes) {
      const megabytes = (piece.length / 1024 / 1024).toFixed(1);
      const message = `this document has ${megabytes} MB; an object of the API has at most 1.5 MB`;
      mistakes.push({ severity: 'error', ...placeAt(0), message });
      continue;
    }
    const read = readDocument(piece, placeAt);
    if ('mistakes' in read) mistakes.push(...read.mistakes);
    else if (read.value !== null && read.value !== undefined) documents.push(read);
  }
  return { documents, mistakes };
}

interface Piece {
  readonly text: string;
  /** Its offset in the file. */
  readonly start: number;
}

/** `---` at the start of a line always ends a document, also inside a text (YAML 1.2 §9.1.2). */
function splitDocuments(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  const endAt = (end: number): void => {
    const piece = text.slice(start, end);
    if (piece.trim() !== '') pieces.push({ text: piece, start });
  };
  // A marker with nothing else on its line belongs to neither document; one with content begins its document.
  for (const marker of text.matchAll(/^---(?:[ \t]*\r?\n|(?=[ \t])|$)/gm)) {
    endAt(marker.index);
    const isAlone = marker[0].endsWith('\n');
    start = isAlone ? marker.index + marker[0].length : marker.index;
  }
  endAt(text.length);
  return pieces;
}

type PlaceAt = (offset: number) => Place;

function readDocument(text: string, placeAt: PlaceAt): ReadDocument | { readonly mistakes: readonly JudgedMistake[] } {
  const asJson = text.trimStart().startsWith('{') ? parseJson(text) : undefined;
  if (asJson !== undefined) return { value: asJson, placeOf: lazily(() => jsonPlaces(text, placeAt)) };

  const document = parseYaml(text);
  if (document.errors.length > 0) {
    return {
      mistakes: document.errors.map((error) => ({
        severity: 'error',
        ...placeAt(error.pos[0]),
        message: `not YAML: ${error.message.split('\n')[0] ?? ''}`,
      })),
    };
  }
  try {
    const parsed = new WeakRef(document);
    return { value: document.toJS(), placeOf: lazily(() => yamlPlaces(parsed.deref() ?? parseYaml(text), placeAt)) };
  } catch (error) {
    // Aliases that would unfold without end.
    return { mistakes: [{ severity: 'error', ...placeAt(0), message: `not usable YAML: ${String(error)}` }] };
  }
}

type PlaceOf = ReadDocument['placeOf'];

/** Syntax trees are many times larger than their text, and most are never used: a dropped one is made again. */
function lazily(make: () => PlaceOf): PlaceOf {
  let kept: WeakRef<PlaceOf> | undefined;
  return (path) => {
    const placeOf = kept?.deref() ?? make();
    kept = new WeakRef(placeOf);
    return placeOf(path);
  };
}

function jsonPlaces(text: string, placeAt: PlaceAt): PlaceOf {
  const read = readJsonWithPlaces(text);
  if (read.status === 'malformed') return () => placeAt(0); // nested deeper than the reader goes
  const offsetOf = jsonOffsets(read.root);
  return (path) => placeAt(offsetOf(path));
}

function yamlPlaces(document: Document.Parsed, placeAt: PlaceAt): PlaceOf {
  return (path) => {
    for (let depth = path.length; depth >= 0; depth -= 1) {
      const offset = fieldOffsets(document, path.slice(0, depth))?.value;
      if (offset !== undefined) return placeAt(offset);
    }
    return placeAt(0);
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const unlikeGo = new Set(['tag:yaml.org,2002:timestamp']);

function parseYaml(text: string): Document.Parsed {
  const customTags = (tags: Tags): Tags =>
    tags.filter((tag) => typeof tag === 'string' || (!unlikeGo.has(tag.tag) && tag.format !== 'TIME'));
  return parseDocument(text, { version: '1.1', prettyErrors: false, customTags });
}
