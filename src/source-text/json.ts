// JSON with offsets, read as strictly as Go's encoding/json reads it: a machine reads the same bytes with that reader.
// JSON.parse loses what a report needs: where a value stands, how a number was spelled, keys that occur twice.
// The yaml package keeps offsets, but accepts comments, bare words and single quotes, and takes thirty times as long.
import type { FieldPath } from './field-path.ts';

export type JsonNode =
  | { readonly kind: 'object'; readonly start: number; readonly entries: readonly JsonEntry[] }
  | { readonly kind: 'array'; readonly start: number; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly start: number; readonly value: string }
  | { readonly kind: 'number'; readonly start: number; readonly spelling: string }
  | { readonly kind: 'boolean'; readonly start: number; readonly value: boolean }
  | { readonly kind: 'null'; readonly start: number };

export interface JsonEntry {
  readonly key: string;
  readonly keyStart: number;
  readonly value: JsonNode;
}

export type ReadJson =
  | { readonly status: 'read'; readonly root: JsonNode }
  | { readonly status: 'malformed'; readonly offset: number; readonly reason: string };

/** The limit of encoding/json. This reader keeps its own stack and could go deeper. */
const deepestNesting = 10_000;

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const blank = /[ \t\r\n]*/y;
const words = [
  { spelling: 'true', node: (start: number): JsonNode => ({ kind: 'boolean', start, value: true }) },
  { spelling: 'false', node: (start: number): JsonNode => ({ kind: 'boolean', start, value: false }) },
  { spelling: 'null', node: (start: number): JsonNode => ({ kind: 'null', start }) },
];

class Malformed extends Error {
  readonly offset: number;
  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}

/** An object or array whose end has not been seen yet. */
type Open =
  | { kind: 'object'; start: number; entries: JsonEntry[]; key: string; keyStart: number }
  | { kind: 'array'; start: number; items: JsonNode[] };

export function readJsonWithPlaces(text: string): ReadJson {
  try {
    return { status: 'read', root: readDocument(text) };
  } catch (error) {
    if (error instanceof Malformed) return { status: 'malformed', offset: error.offset, reason: error.message };
    throw error;
  }
}

function readDocument(text: string): JsonNode {
  const open: Open[] = [];
  let at = skipBlank(text, 0);
  for (;;) {
    // Here a value must start.
    let done: JsonNode | undefined;
    const character = text[at];
    if (character === '{' || character === '[') {
      if (open.length === deepestNesting) throw new Malformed(at, 'objects and lists are nested too deeply');
      const start = at;
      at = skipBlank(text, at + 1);
      if (text[at] === (character === '{' ? '}' : ']')) {
        done = character === '{' ? { kind: 'object', start, entries: [] } : { kind: 'array', start, items: [] };
        at += 1;
      } else if (character === '{') {
        const frame: Open = { kind: 'object', start, entries: [], key: '', keyStart: 0 };
        at = readKey(text, at, frame);
        open.push(frame);
        continue;
      } else {
        open.push({ kind: 'array', start, items: [] });
        continue;
      }
    } else {
      [done, at] = readScalar(text, at);
    }

    // Here a value has ended: give it to the object or list that holds it, and close each holder that ends here.
    for (;;) {
      at = skipBlank(text, at);
      const holder = open.at(-1);
      if (holder === undefined) {
        if (at < text.length) throw new Malformed(at, 'there is text after the end of the config');
        return done;
      }
      if (holder.kind === 'object') holder.entries.push({ key: holder.key, keyStart: holder.keyStart, value: done });
      else holder.items.push(done);

      const next = text[at];
      const end = holder.kind === 'object' ? '}' : ']';
      if (next === ',') {
        at = skipBlank(text, at + 1);
        if (holder.kind === 'object') at = readKey(text, at, holder);
        break;
      }
      if (next !== end) throw new Malformed(at, `${found(text, at)} instead of "," or "${end}"`);
      at += 1;
      done = closed(holder);
      open.pop();
    }
  }
}

function closed(holder: Open): JsonNode {
  const { start } = holder;
  return holder.kind === 'object'
    ? { kind: 'object', start, entries: holder.entries }
    : { kind: 'array', start, items: holder.items };
}

/** Reads `"key" :` and returns where its value starts. */
function readKey(text: string, at: number, frame: Extract<Open, { kind: 'object' }>): number {
  if (text[at] !== '"') throw new Malformed(at, `${found(text, at)} instead of a key in double quotes`);
  const [key, afterKey] = readString(text, at);
  const colon = skipBlank(text, afterKey);
  if (text[colon] !== ':') throw new Malformed(colon, `${found(text, colon)} instead of ":" after a key`);
  frame.key = key;
  frame.keyStart = at;
  return skipBlank(text, colon + 1);
}

function readScalar(text: string, at: number): [JsonNode, number] {
  if (text[at] === '"') {
    const [value, end] = readString(text, at);
    return [{ kind: 'string', start: at, value }, end];
  }
  number.lastIndex = at;
  const spelling = number.exec(text)?.[0];
  if (spelling !== undefined) return [{ kind: 'number', start: at, spelling }, at + spelling.length];
  const word = words.find((candidate) => text.startsWith(candidate.spelling, at));
  if (word === undefined) throw new Malformed(at, `${found(text, at)} instead of a value`);
  return [word.node(at), at + word.spelling.length];
}

/** Finds the closing quote itself and leaves the decoding to JSON.parse, which is fast on long data URLs. */
function readString(text: string, start: number): [string, number] {
  let quote = start;
  do {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) throw new Malformed(start, 'this text has no closing quote');
  } while (isEscaped(text, quote));
  try {
    // Halves of surrogate pairs become U+FFFD, as they do when Go decodes them.
    return [(JSON.parse(text.slice(start, quote + 1)) as string).toWellFormed(), quote + 1];
  } catch {
    throw new Malformed(badCharacter(text, start + 1), 'a control character or an unknown escape inside a text');
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function badCharacter(text: string, start: number): number {
  const suspicious = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\|[^ -\u{10ffff}]/gu;
  suspicious.lastIndex = start;
  let match = suspicious.exec(text);
  while (match !== null && match[0].length > 1) match = suspicious.exec(text);
  return match?.index ?? start;
}

function skipBlank(text: string, at: number): number {
  blank.lastIndex = at;
  blank.exec(text);
  return blank.lastIndex;
}

function found(text: string, at: number): string {
  const codePoint = text.codePointAt(at);
  return codePoint === undefined ? 'the text ends' : `found ${JSON.stringify(String.fromCodePoint(codePoint))}`;
}

/** Returns the function from a path to the offset of its value, or of the innermost value around it that is written. */
export function jsonOffsets(root: JsonNode): (path: FieldPath) => number {
  const indexes = new Map<JsonNode, ReadonlyMap<string, JsonNode>>();
  const memberOf = (node: JsonNode, step: string | number): JsonNode | undefined => {
    if (node.kind === 'array') return typeof step === 'number' ? node.items[step] : undefined;
    if (node.kind !== 'object' || typeof step === 'number') return undefined;
    const index = indexes.get(node) ?? new Map(node.entries.map(({ key, value }) => [key, value]));
    indexes.set(node, index);
    return index.get(step);
  };
  return (path) => {
    let node = root;
    for (const step of path) {
      const member = memberOf(node, step);
      if (member === undefined) break;
      node = member;
    }
    return node.start;
  };
}
