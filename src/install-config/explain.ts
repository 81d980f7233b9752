// What there is to say about a field of the install-config, as data: from the one definition and the table of rules.
import { areRelated } from '../source-text/field-path.ts';
import type { Architecture } from './architecture.ts';
import { installConfigErrors } from './errors.ts';
import { fieldsOf, itemOf, type JsonSchema, jsonSchema } from './json-schema.ts';
import { nearest } from './mistake.ts';
import { configRules } from './rules.ts';

export interface FieldFacts {
  readonly name: string;
  /** `string`, `integer`, `object`, `[]object`, … */
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly default?: unknown;
  readonly allowed?: readonly string[];
  readonly examples?: readonly unknown[];
}

export interface ExplainedField extends FieldFacts {
  readonly kind: 'InstallConfig';
  readonly version: 'v1';
  /** `installconfig.networking`. */
  readonly path: string;
  /** Sorted by name; empty where the field is a single value. */
  readonly fields: readonly FieldFacts[];
  readonly rules: readonly string[];
}

export const explainRoot = 'installconfig';

/** `path` as typed: `installconfig`, `installconfig.networking.clusterNetwork`, indices of lists allowed. */
export function explainInstallConfig(path: string, architecture: Architecture): ExplainedField {
  const [, ...names] = path.replaceAll(/\[\d*\]/g, '').split('.');
  let schema = jsonSchema(architecture);
  let isRequired = false;
  for (const [i, name] of names.entries()) {
    const fields = fieldsOf(schema);
    const next = fields.get(name);
    if (next === undefined) throw noSuchField([explainRoot, ...names.slice(0, i)], name, [...fields.keys()]);
    isRequired = requiredIn(schema).includes(name);
    schema = next;
  }
  const required = requiredIn(schema);
  return {
    kind: 'InstallConfig',
    version: 'v1',
    path: [explainRoot, ...names].join('.'),
    ...factsOf(names.at(-1) ?? explainRoot, schema, isRequired),
    fields: [...fieldsOf(schema)]
      .map(([name, field]) => factsOf(name, field, required.includes(name)))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    rules: names.length === 0 ? [] : rulesAbout(names),
  };
}

function noSuchField(parents: readonly string[], field: string, known: readonly string[]): Error {
  const suggestion = nearest(field, known);
  const path = parents.join('.');
  return installConfigErrors.NO_SUCH_FIELD({ path, field, ...(suggestion === undefined ? {} : { suggestion }) });
}

function rulesAbout(names: readonly string[]): readonly string[] {
  const fieldNames = (path: readonly (string | number)[]) => path.filter((part) => typeof part === 'string');
  return configRules
    .filter(({ reads }) => reads.some((read) => areRelated(fieldNames(read), names)))
    .map(({ severity, says }) => (severity === 'warning' ? `${says} (warning)` : says));
}

function requiredIn(schema: JsonSchema): readonly string[] {
  return (itemOf(schema) ?? schema).required ?? [];
}

function factsOf(name: string, schema: JsonSchema, isRequired: boolean): FieldFacts {
  const allowed = allowedOf(schema);
  return {
    name,
    type: typeOf(schema),
    description: schema.description ?? '',
    isRequired,
    ...(schema.default === undefined ? {} : { default: schema.default }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(schema.examples === undefined ? {} : { examples: schema.examples }),
  };
}

function typeOf(schema: JsonSchema): string {
  const item = itemOf(schema);
  return item === undefined ? String(schema.type) : `[]${typeOf(item)}`;
}

function allowedOf(schema: JsonSchema): readonly string[] | undefined {
  if (schema.const !== undefined) return [String(schema.const)];
  if (schema.enum !== undefined) return schema.enum.map(String);
  return schema.minimum === undefined || schema.maximum === undefined
    ? undefined
    : [`${schema.minimum} to ${schema.maximum}`];
}
