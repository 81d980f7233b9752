// A config as JSON text. Equal configs give equal bytes: keys in the order of the table, no empty lists or objects, but
// every value that was set, also "", 0 and false.
import type { IgnitionConfig } from './config.ts';
import type { Field, ObjectType } from './schema.ts';
import { configType } from './schema.ts';

export interface SerializeOptions {
  /** Spaces per level; 0, the default, is the compact form that machines are served. */
  readonly indent?: number;
}

/** The text ends with a newline and parses back to an equal config. */
export function serialize(config: IgnitionConfig, options: SerializeOptions = {}): string {
  return `${JSON.stringify(normalize(config), null, options.indent ?? 0)}\n`;
}

/** The same config with its keys in the table's order and without empty objects and lists. */
export function normalize(config: IgnitionConfig): IgnitionConfig {
  return ordered(config, configType) as unknown as IgnitionConfig;
}

type PlainObject = Readonly<Record<string, unknown>>;

function ordered(value: object, type: ObjectType): PlainObject {
  const result: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(type.fields)) {
    const kept = orderedField((value as PlainObject)[name], field);
    if (kept !== undefined) result[name] = kept;
  }
  return result;
}

function orderedField(value: unknown, field: Field): unknown {
  if (value === undefined || value === null) return undefined;
  if (field.kind === 'number') return field.zeroIsAbsent && value === 0 ? undefined : value;
  if (field.kind === 'object') {
    const inner = ordered(value, field.object);
    return Object.keys(inner).length === 0 ? undefined : inner;
  }
  if (field.kind === 'list') {
    const items = value as readonly unknown[];
    if (items.length === 0) return undefined;
    const { item } = field;
    return item === 'text' ? items : items.map((entry) => ordered(entry as object, item));
  }
  return value;
}
