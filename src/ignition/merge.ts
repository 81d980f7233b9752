// Merges a child config over its parent exactly as Ignition does when a config refers to another one. The child wins
// wherever it says something; nothing can be unset, but for inherited HTTP headers. Neither input is changed.
import type { Config } from './config.ts';
import { convertUp } from './convert.ts';
import type { Field, ListField, ObjectType } from './schema.ts';
import { config as configType } from './schema.ts';
import { normalize } from './serialize.ts';
import { namespaceOf } from './validate.ts';

/**
 * Both configs may be of any spec; the result is of the newest. Two valid configs can merge into an invalid one (an id
 * from one, a name from the other), so the result is worth validating.
 */
export function merge(parent: Config, child: Config): Config {
  const [older, newer] = [normalize(convertUp(parent)), normalize(convertUp(child))];
  return normalize(mergeObjects(asPlain(older), asPlain(newer), configType) as unknown as Config);
}

/** Left to right: each config is the child of everything before it. At least one is needed. */
export function mergeAll(configs: readonly [Config, ...Config[]]): Config {
  const [first, ...rest] = configs;
  return rest.reduce(merge, normalize(convertUp(first)));
}

type Plain = Readonly<Record<string, unknown>>;

function asPlain(value: object): Plain {
  return value as Plain;
}

function mergeObjects(parent: Plain, child: Plain, type: ObjectType): Plain {
  const result: Record<string, unknown> = {};
  const childEntries = entriesByKey(child, type);
  for (const [name, field] of Object.entries(type.fields)) {
    const merged =
      field.kind === 'list'
        ? mergeLists(name, field, { parent, child, childEntries })
        : mergeField(parent[name], child[name], field);
    if (merged !== undefined) result[name] = merged;
  }
  return result;
}

function mergeField(parent: unknown, child: unknown, field: Field): unknown {
  if (parent === undefined || child === undefined) return child ?? parent;
  return field.kind === 'object' ? mergeObjects(parent as Plain, child as Plain, field.object) : child;
}

interface ChildEntry {
  readonly list: string;
  readonly item: unknown;
}

interface Pair {
  readonly parent: Plain;
  readonly child: Plain;
  readonly childEntries: ReadonlyMap<string, ReadonlyMap<string, ChildEntry>>;
}

/** Every entry of the child's keyed lists: namespace, then key. The last of several equal ones stands for all. */
function entriesByKey(child: Plain, type: ObjectType): Pair['childEntries'] {
  const result = new Map<string, Map<string, ChildEntry>>();
  for (const [name, field] of Object.entries(type.fields)) {
    if (field.kind !== 'list' || field.key === undefined) continue;
    const namespace = result.get(namespaceOf(name, field)) ?? new Map<string, ChildEntry>();
    result.set(namespaceOf(name, field), namespace);
    for (const item of itemsOf(child, name)) namespace.set(field.key(item), { list: name, item });
  }
  return result;
}

function mergeLists(name: string, field: ListField, { parent, child, childEntries }: Pair): readonly unknown[] {
  const { key } = field;
  const [older, newer] = [itemsOf(parent, name), itemsOf(child, name)];
  if (key === undefined) return [...older, ...newer];

  const counterparts = childEntries.get(namespaceOf(name, field));
  const inherited = older.flatMap((item): unknown[] => {
    const counterpart = counterparts?.get(key(item));
    if (counterpart === undefined) return [item];
    // The child has the key in a sibling list, where it will appear.
    if (counterpart.list !== name) return [];
    return mergeItems(item, counterpart.item, field);
  });
  const known = new Set(older.map(key));
  return [...inherited, ...newer.filter((item) => !known.has(key(item)))];
}

/** No item when the child's is a request to delete the parent's. */
function mergeItems(parent: unknown, child: unknown, { item, deletedWithout }: ListField): unknown[] {
  if (item === 'text') return [child];
  if (deletedWithout !== undefined && (child as Plain)[deletedWithout] === undefined) return [];
  return [mergeObjects(parent as Plain, child as Plain, item)];
}

function itemsOf(value: Plain, name: string): readonly never[] {
  return (value[name] ?? []) as readonly never[];
}
