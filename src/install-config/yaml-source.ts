// A YAML document → plain value plus the place of every field in it. What YAML can say and an install-config must not
// (aliases, leading zeros, keys that are no names) is a mistake with a place, never a surprise further down.
// An empty value (`sshKey:`) means "not given", as Go readers take it, and becomes undefined.
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import { type FieldPath, mistakesMax, fieldPathText, quoted } from './mistake.ts';
import { fileStart, type Place, readYamlText, type TextMistake } from './yaml-text.ts';

export interface YamlSource {
  /** Undefined where the text could not be read; an empty file is an empty map. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
  readonly mistakes: readonly TextMistake[];
  /** Where the value at the path is, or the key of its nearest ancestor that is written. */
  place(path: FieldPath): Place;
  /** Where the key of the field at the path is. */
  placeOfKey(path: FieldPath): Place;
}

/** `value` is the node of the path; `key` the key it stands under, absent for list items and the root. */
interface Found {
  readonly key?: Node;
  readonly value?: Node;
}

export function readYaml(text: string): YamlSource {
  const read = readYamlText(text);
  if (read.status === 'unreadable') {
    const place = (): Place => fileStart;
    return { value: undefined, mistakes: read.mistakes, place, placeOfKey: place };
  }
  const { document, placeAt } = read;
  const at = (node: Node | undefined): Place | undefined =>
    node?.range === undefined || node.range === null ? undefined : placeAt(node.range[0]);
  const place = (path: FieldPath): Place => {
    const exact = find(document, path);
    const own = at(exact?.value) ?? at(exact?.key);
    if (own !== undefined || path.length === 0) return own ?? fileStart;
    const parent = path.slice(0, -1);
    return at(find(document, parent)?.key) ?? place(parent);
  };
  const mistakes: TextMistake[] = [];
  const value = plainValue(document.contents, { path: [], mistakes, placeOf: (node) => at(node) ?? fileStart });
  return {
    value: rootMap(value, mistakes),
    mistakes,
    place,
    placeOfKey: (path) => at(find(document, path)?.key) ?? place(path),
  };
}

function rootMap(value: unknown, mistakes: TextMistake[]): YamlSource['value'] {
  if (value === undefined) return {};
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  const message = `the file holds ${Array.isArray(value) ? 'a list' : 'a single value'} instead of fields`;
  mistakes.push({ ...fileStart, path: [], text: '', message, allowed: 'lines like "baseDomain: example.test"' });
  return undefined;
}

function find(document: Document.Parsed, path: FieldPath): Found | undefined {
  let found: Found | undefined = document.contents === null ? {} : { value: document.contents };
  for (const part of path) {
    found = child(found.value, part);
    if (found === undefined) return undefined;
  }
  return found;
}

function child(node: Node | undefined, part: string | number): Found | undefined {
  if (isSeq(node)) return foundNodes(undefined, node.items[Number(part)]);
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair === undefined ? undefined : foundNodes(pair.key, pair.value);
}

function foundNodes(key: unknown, value: unknown): Found | undefined {
  const found = { ...(isNode(key) ? { key } : {}), ...(isNode(value) ? { value } : {}) };
  return Object.keys(found).length === 0 ? undefined : found;
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
