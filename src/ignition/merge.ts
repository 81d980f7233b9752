// Merges configs exactly as Ignition does when a config refers to another one: a child wins wherever it has a value;
// nothing can be unset except inherited HTTP headers. No input is changed. Configs are added one by one to an
// accumulator that knows where every key stands, so thousands of them cost no more than their entries.
import type { IgnitionConfig } from './config.ts';
import { convertUp } from './convert.ts';
import type { Field, ListField, ObjectType } from './schema.ts';
import { configType, namespaceOf } from './schema.ts';
import { normalize } from './serialize.ts';

/**
 * Both configs may be of any spec; the result is of the newest. Two valid configs can merge into an invalid one (an id
 * from one, a name from the other), so validate the result.
 */
export function merge(parent: IgnitionConfig, child: IgnitionConfig): IgnitionConfig {
  return mergeAll([parent, child]);
}

/** Left to right: each config is the child of everything before it. */
export function mergeAll(configs: readonly [IgnitionConfig, ...IgnitionConfig[]]): IgnitionConfig {
  const merged = accumulator(configType);
  for (const config of configs) merged.add(normalize(convertUp(config)) as unknown as Plain);
  return normalize(merged.result() as unknown as IgnitionConfig);
}

type Plain = Readonly<Record<string, unknown>>;

interface Accumulator {
  readonly add: (child: Plain) => void;
  readonly result: () => Plain;
}

function accumulator(type: ObjectType): Accumulator {
  const scalars: Record<string, unknown> = {};
  const objects = new Map<string, Accumulator>();
  const lists = new Map<string, List>();
  const fields = Object.entries(type.fields);
  const keyedFields = fields.filter((entry): entry is [string, KeyedField] => isKeyed(entry[1]));

  const add = (child: Plain) => {
    addKeyedLists(child, keyedFields, lists);
    for (const [name, field] of fields) {
      const member = child[name];
      if (member === undefined || isKeyed(field)) continue;
      if (field.kind === 'list') for (const item of itemsOf(child, name)) listOf(lists, name).items.push(item);
      else if (field.kind === 'object') {
        const inner = objects.get(name) ?? accumulator(field.object);
        objects.set(name, inner);
        inner.add(member as Plain);
      } else scalars[name] = member;
    }
  };
  const result = () => {
    const members = fields.map(([name]) => {
      const items = lists.get(name)?.items.filter((item) => item !== removed);
      return [name, items ?? objects.get(name)?.result() ?? scalars[name]] as const;
    });
    return Object.fromEntries(members.filter(([, member]) => member !== undefined));
  };
  return { add, result };
}

type KeyedField = ListField & Required<Pick<ListField, 'key'>>;

function isKeyed(field: Field): field is KeyedField {
  return field.kind === 'list' && field.key !== undefined;
}

/** The entries so far, and where those of each key stand. A removed entry leaves a gap, so that places stay valid. */
interface List {
  readonly items: unknown[];
  readonly places: Map<string, number[]>;
}

const removed = Symbol('removed');

function listOf(lists: Map<string, List>, name: string): List {
  const list = lists.get(name) ?? { items: [], places: new Map() };
  lists.set(name, list);
  return list;
}

interface ChildEntry {
  readonly list: string;
  readonly item: unknown;
}

function addKeyedLists(child: Plain, fields: readonly [string, KeyedField][], lists: Map<string, List>): void {
  const entries = entriesByKey(child, fields);
  for (const [name, field] of fields) {
    const incoming = entries.get(namespaceOf(name, field));
    if (incoming === undefined) continue;
    const list = listOf(lists, name);
    const inBoth = new Set<string>();
    for (const [key, entry] of incoming) {
      const places = list.places.get(key);
      if (places === undefined) continue;
      inBoth.add(key);
      for (const place of places) {
        // A key that the child has in a sibling list leaves this one.
        list.items[place] = entry.list === name ? mergeItems(list.items[place], entry.item, field) : removed;
      }
      if (places.every((place) => list.items[place] === removed)) list.places.delete(key);
    }
    for (const item of itemsOf(child, name)) {
      const key = field.key(item);
      if (inBoth.has(key)) continue;
      const places = list.places.get(key) ?? [];
      list.places.set(key, [...places, list.items.length]);
      list.items.push(item);
    }
  }
}

/** Every entry of the child's keyed lists: namespace, then key. The last of several equal ones stands for all. */
function entriesByKey(child: Plain, fields: readonly [string, KeyedField][]): Map<string, Map<string, ChildEntry>> {
  const result = new Map<string, Map<string, ChildEntry>>();
  for (const [name, field] of fields) {
    const items = itemsOf(child, name);
    if (items.length === 0) continue;
    const namespace = result.get(namespaceOf(name, field)) ?? new Map<string, ChildEntry>();
    result.set(namespaceOf(name, field), namespace);
    for (const item of items) namespace.set(field.key(item), { list: name, item });
  }
  return result;
}

function mergeItems(parent: unknown, child: unknown, { item, deletedWithout }: ListField): unknown {
  if (item === 'text') return child;
  if (deletedWithout !== undefined && (child as Plain)[deletedWithout] === undefined) return removed;
  const merged = accumulator(item);
  merged.add(parent as Plain);
  merged.add(child as Plain);
  return merged.result();
}

function itemsOf(value: Plain, name: string): readonly never[] {
  return (value[name] ?? []) as readonly never[];
}
