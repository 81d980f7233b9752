// One YAML document → plain value plus the place of every field in it. What YAML can say and a configuration must not
// (aliases, leading zeros, keys that are no names) is a mistake with a place, and never reaches later code.
// An empty value (`sshKey:`) means "not given", as Go readers take it, and becomes undefined.
import { isAlias, isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import { type FieldPath, fieldPathText } from './field-path.ts';
import { mistakesMax } from './mistake.ts';
import { type Place, textStart } from './place.ts';
import { quoted } from './quoted-text.ts';
import { fieldOffsets } from './yaml-nodes.ts';
import { readYamlText, type TextMistake, type YamlFile } from './yaml-syntax.ts';

export interface YamlSource {
  /** Undefined where the text could not be read; an empty file is an empty map. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
  readonly mistakes: readonly TextMistake[];
  /** Where the value at the path is, or the key of its nearest ancestor that is written. */
  readonly place: (path: FieldPath) => Place;
  /** Where the key of the field at the path is. */
  readonly placeOfKey: (path: FieldPath) => Place;
}

export interface StrictYamlFile extends YamlFile {
  /** An example of a right line, for a file that holds no fields. */
  readonly exampleLine: string;
}

export function readStrictYaml(source: StrictYamlFile): YamlSource {
  const start: Place = { file: source.file, ...textStart };
  const read = readYamlText(source);
  if (read.status === 'unreadable') {
    return { value: undefined, mistakes: read.mistakes, place: () => start, placeOfKey: () => start };
  }
  const { document, placeAt } = read;
  const at = (offset: number | undefined): Place | undefined => (offset === undefined ? undefined : placeAt(offset));
  const place = (path: FieldPath): Place => {
    const exact = fieldOffsets(document, path);
    const own = at(exact?.value ?? exact?.key);
    if (own !== undefined || path.length === 0) return own ?? start;
    const parent = path.slice(0, -1);
    return at(fieldOffsets(document, parent)?.key) ?? place(parent);
  };
  const mistakes: TextMistake[] = [];
  const placeOf = (node: Node): Place => at(node.range?.[0]) ?? start;
  const value = plainValue(document.contents, { path: [], mistakes, placeOf });
  const root = rootMap(value);
  if (typeof root === 'string') {
    mistakes.push({ ...start, path: [], text: '', message: root, allowed: `lines like "${source.exampleLine}"` });
  }
  return {
    value: typeof root === 'string' ? undefined : root,
    mistakes,
    place,
    placeOfKey: (path) => at(fieldOffsets(document, path)?.key) ?? place(path),
  };
}

/** The fields of the root, or the words for a root that has none. */
function rootMap(value: unknown): Readonly<Record<string, unknown>> | string {
  if (value === undefined) return {};
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return `the file holds ${Array.isArray(value) ? 'a list' : 'a single value'} instead of fields`;
}

interface Walk {
  readonly path: FieldPath;
  readonly mistakes: TextMistake[];
  readonly placeOf: (node: Node) => Place;
}

function plainValue(node: unknown, walk: Walk): unknown {
  if (isMap(node)) return plainMap(node.items, walk);
  if (isSeq(node)) {
    // An empty item stays null: a hole in a list is a mistake, an empty field is not.
    return node.items.map((item, i) => plainValue(item, { ...walk, path: [...walk.path, i] }) ?? null);
  }
  if (isAlias(node)) {
    report(walk, node, { text: `*${node.source}`, message: 'an alias; write the value out', allowed: 'plain values' });
    return undefined;
  }
  if (!isScalar(node)) return undefined;
  if (typeof node.value === 'number' && /^[-+]?0[0-9]/.test(node.source ?? '')) {
    const message = `${node.source} begins with a zero, which some programs read as octal`;
    const digits = String(node.source).replace(/^([-+]?)0+(?=\d)/, '$1');
    report(walk, node, { text: String(node.source), message, allowed: `${digits}, or '${node.source}' for text` });
  }
  return node.value ?? undefined;
}

function plainMap(pairs: readonly { readonly key: unknown; readonly value: unknown }[], walk: Walk): unknown {
  const fields = new Map<string, unknown>();
  for (const { key, value } of pairs) {
    if (!isScalar(key) || (typeof key.value !== 'string' && typeof key.value !== 'number')) {
      if (isNode(key)) report(walk, key, { text: '', message: 'the name of a field must be plain text' });
      continue;
    }
    const name = String(key.value);
    const path = [...walk.path, name];
    if (fields.has(name)) {
      report({ ...walk, path }, key, {
        text: name,
        message: `${fieldPathText(path)}: the same field is written a second time`,
      });
    }
    fields.set(name, plainValue(value, { ...walk, path }));
  }
  return Object.fromEntries(fields);
}

function report(walk: Walk, node: Node, said: Pick<TextMistake, 'text' | 'message' | 'allowed'>): void {
  if (walk.mistakes.length >= mistakesMax) return;
  walk.mistakes.push({
    ...walk.placeOf(node),
    path: walk.path,
    ...said,
    text: said.text === '' ? '' : quoted(said.text),
  });
}
