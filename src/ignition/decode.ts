// From JSON to a config, by the rules of Go's decoder, which a machine uses: keys match in any case, a repeated key
// overlays the earlier one, null means "not set", integers are integer literals. Unknown keys are found
// in a second walk over the text, which compares keys exactly, so a key in the wrong case is both used and reported.
import type { FieldPath } from '../source-text/field-path.ts';
import type { JsonNode } from '../source-text/json.ts';
import type { IgnitionConfig } from './config.ts';
import type { PlacedFinding } from './problems.ts';
import { finding } from './problems.ts';
import type { Field, ListField, ObjectField, ObjectType } from './schema.ts';
import { configType, ignition as ignitionType } from './schema.ts';
import type { SpecVersion } from './spec-version.ts';
import { isAtLeast, oldestSpec } from './spec-version.ts';

export type Decoded =
  | { readonly status: 'decoded'; readonly config: IgnitionConfig; readonly findings: readonly PlacedFinding[] }
  | { readonly status: 'mistyped'; readonly mistakes: readonly PlacedFinding[] };

type Draft = Record<string, unknown>;

interface Decoder {
  readonly spec: SpecVersion;
  readonly mistakes: PlacedFinding[];
}

export function decodeConfig(root: JsonNode, spec: SpecVersion): Decoded {
  const decoder: Decoder = { spec, mistakes: [] };
  const draft = decodeObject(root, { type: configType, path: [], earlier: undefined }, decoder);
  if (decoder.mistakes.length > 0) return { status: 'mistyped', mistakes: decoder.mistakes };
  const config = draft as unknown as IgnitionConfig;
  return {
    status: 'decoded',
    config: { ...config, ignition: { ...config.ignition, version: spec } },
    findings: [...strayKeys(root, { type: configType, path: [] }, spec)],
  };
}

/** What every spec has: its version. */
const versionOnly: ObjectType = {
  fields: { ignition: { ...configType.fields.ignition, object: { fields: { version: ignitionType.fields.version } } } },
};

/** The text of `ignition.version`, read by the same decoder before it is known which spec to decode. */
export function decodeVersion(root: JsonNode): { readonly text: string; readonly mistakes: readonly PlacedFinding[] } {
  const decoder: Decoder = { spec: oldestSpec, mistakes: [] };
  const draft = decodeObject(root, { type: versionOnly, path: [], earlier: undefined }, decoder);
  const { version = '' } = (draft.ignition ?? {}) as { readonly version?: string };
  return { text: version, mistakes: decoder.mistakes };
}

interface ObjectTarget {
  readonly type: ObjectType;
  readonly path: FieldPath;
  /** What an earlier occurrence of the same key left here. */
  readonly earlier: unknown;
}

function decodeObject(node: JsonNode, { type, path, earlier }: ObjectTarget, decoder: Decoder): Draft {
  const draft: Draft = earlier === undefined ? emptyObject(type, decoder.spec) : (earlier as Draft);
  if (node.kind === 'null') return draft;
  if (node.kind !== 'object') {
    decoder.mistakes.push(mistake(node, path, 'an object'));
    return draft;
  }
  for (const { key, value } of node.entries) {
    const [name, field] = fieldFor(key, type, decoder.spec) ?? [];
    if (name === undefined || field === undefined) continue;
    const decoded = decodeField(value, { field, path: [...path, name], earlier: draft[name] }, decoder);
    if (decoded === undefined) delete draft[name];
    else draft[name] = decoded;
  }
  return draft;
}

function emptyObject(type: ObjectType, spec: SpecVersion): Draft {
  const draft: Draft = {};
  for (const [name, field] of Object.entries(type.fields)) {
    if (field.kind === 'text' && isPlain(field, spec)) draft[name] = '';
  }
  return draft;
}

/** Plain text is never absent: without a value, or with null, it stays as it was, at first empty. */
function isPlain(field: Field, spec: SpecVersion): boolean {
  if (field.kind !== 'text') return false;
  return field.required || (field.emptyBefore !== undefined && !isAtLeast(spec, field.emptyBefore));
}

interface FieldTarget {
  readonly field: Field;
  readonly path: FieldPath;
  readonly earlier: unknown;
}

function decodeField(node: JsonNode, { field, path, earlier }: FieldTarget, decoder: Decoder): unknown {
  const wrong = (expected: string) => {
    decoder.mistakes.push(mistake(node, path, expected));
    return earlier;
  };
  if (field.kind === 'object') {
    if (node.kind === 'null') return isNullable(field, decoder.spec) ? undefined : earlier;
    return decodeObject(node, { type: field.object, path, earlier }, decoder);
  }
  if (node.kind === 'null') {
    const keeps = isPlain(field, decoder.spec) || (field.kind === 'number' && field.zeroIsAbsent);
    return keeps ? earlier : undefined;
  }
  if (field.kind === 'text') return node.kind === 'string' ? node.value : wrong('a string');
  if (field.kind === 'flag') return node.kind === 'boolean' ? node.value : wrong('true or false');
  if (field.kind === 'list') {
    if (node.kind !== 'array') return wrong('a list');
    return decodeList(node.items, { field, path, earlier }, decoder);
  }
  const value = node.kind === 'number' && /^-?[0-9]+$/.test(node.spelling) ? Number(node.spelling) : undefined;
  if (value === undefined || !Number.isSafeInteger(value)) return wrong('an integer');
  // -0 is an integer literal too, and the integer it spells is 0.
  return value === 0 && field.zeroIsAbsent ? undefined : value + 0;
}

function decodeList(
  items: readonly JsonNode[],
  target: FieldTarget & { readonly field: ListField },
  decoder: Decoder,
): unknown[] {
  const { item } = target.field;
  const earlier = (target.earlier as readonly unknown[] | undefined) ?? [];
  return items.map((node, index) => {
    const path = [...target.path, index];
    if (item !== 'text') return decodeObject(node, { type: item, path, earlier: earlier[index] }, decoder);
    if (node.kind === 'string') return node.value;
    if (node.kind !== 'null') decoder.mistakes.push(mistake(node, path, 'a string'));
    return earlier[index] ?? '';
  });
}

/** The field a key names: exactly, or else in any case. */
function fieldFor(key: string, type: ObjectType, spec: SpecVersion): readonly [string, Field] | undefined {
  const exact = Object.hasOwn(type.fields, key) ? type.fields[key] : undefined;
  if (exact !== undefined) return isAtLeast(spec, exact.since) ? [key, exact] : undefined;
  const folded = fold(key);
  return Object.entries(type.fields).find(([name, field]) => fold(name) === folded && isAtLeast(spec, field.since));
}

/** Go folds cases one character at a time; ſ and the Kelvin sign are the only foreign ones that reach ASCII letters. */
function fold(key: string): string {
  return key
    .replace(/ſ/g, 's')
    .replace(/\u212a/g, 'k')
    .replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** Keys no field of the spec has, and nulls in place of objects. Of a repeated key only the last occurrence counts. */
function* strayKeys(
  node: JsonNode,
  { type, path }: Omit<ObjectTarget, 'earlier'>,
  spec: SpecVersion,
): Iterable<PlacedFinding> {
  if (node.kind !== 'object') {
    yield { ...finding('NULL_OBJECT', path), offset: node.start };
    return;
  }
  for (const { key, keyStart, value } of new Map(node.entries.map((entry) => [entry.key, entry])).values()) {
    const field = Object.hasOwn(type.fields, key) ? type.fields[key] : undefined;
    if (field === undefined || !isAtLeast(spec, field.since)) {
      yield { ...finding('UNKNOWN_KEY', [...path, key]), offset: keyStart };
    } else if (field.kind === 'object') {
      if (value.kind === 'null' && isNullable(field, spec)) continue;
      yield* strayKeys(value, { type: field.object, path: [...path, key] }, spec);
    } else if (field.kind === 'list' && field.item !== 'text' && value.kind === 'array') {
      for (const [index, item] of value.items.entries()) {
        yield* strayKeys(item, { type: field.item, path: [...path, key, index] }, spec);
      }
    }
  }
}

function isNullable(field: ObjectField, spec: SpecVersion): boolean {
  return field.nullableBefore !== undefined && !isAtLeast(spec, field.nullableBefore);
}

function mistake(node: JsonNode, path: FieldPath, expected: string): PlacedFinding {
  const article = node.kind === 'array' || node.kind === 'object' ? 'an' : 'a';
  const seen = node.kind === 'number' ? `the number ${node.spelling}` : `${article} ${node.kind}`;
  return { code: 'WRONG_TYPE', path, detail: `expected ${expected}, found ${seen}`, offset: node.start };
}
