// Checks a config against its spec: the rules of every object, parents before children, and duplicates in keyed lists.
// Checks that need the text (types, unknown keys) are in parse.ts.
import type { FieldPath } from '../source-text/field-path.ts';
import type { IgnitionConfig } from './config.ts';
import type { ConfigFinding } from './problems.ts';
import { finding } from './problems.ts';
import type { IgnitionReport } from './report.ts';
import { makeReport } from './report.ts';
import { diskRules } from './rules/disks.ts';
import { fileRules } from './rules/files.ts';
import { luksRules } from './rules/luks.ts';
import { resourceRules } from './rules/resources.ts';
import type { SpecRule } from './rules/rule.ts';
import { systemdRules } from './rules/systemd.ts';
import type { ObjectType } from './schema.ts';
import { configType, namespaceOf } from './schema.ts';
import type { SpecVersion } from './spec-version.ts';

const rulesByType = Map.groupBy<ObjectType, SpecRule>(
  [...resourceRules, ...fileRules, ...diskRules, ...luksRules, ...systemdRules],
  ({ type }) => type,
);

export interface ValidateOptions {
  /** Report entries that occur twice in a keyed list; the default is true. Ignition leaves it out after a merge. */
  readonly duplicates?: boolean;
}

/** The report of a machine about this config; without positions, for configs that were built or merged. */
export function validate(config: IgnitionConfig, options: ValidateOptions = {}): IgnitionReport {
  return makeReport(findConfigProblems(config, options));
}

export function findConfigProblems(config: IgnitionConfig, options: ValidateOptions = {}): ConfigFinding[] {
  const context = { spec: config.ignition.version, duplicates: options.duplicates ?? true, found: [] };
  visitObject(config, { type: configType, path: [] }, context);
  return context.found;
}

interface Context {
  readonly spec: SpecVersion;
  readonly duplicates: boolean;
  readonly found: ConfigFinding[];
}

interface Place {
  readonly type: ObjectType;
  readonly path: FieldPath;
}

function visitObject(value: object, { type, path }: Place, context: Context): void {
  for (const { check } of rulesByType.get(type) ?? []) {
    for (const found of check(value as never, context.spec)) {
      context.found.push({ ...found, path: [...path, ...found.path] });
    }
  }
  if (context.duplicates) findDuplicates(value, { type, path }, context);

  for (const [name, field] of Object.entries(type.fields)) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    if (field.kind === 'object') visitObject(member as object, { type: field.object, path: [...path, name] }, context);
    if (field.kind !== 'list' || field.item === 'text') continue;
    for (const [index, item] of (member as readonly object[]).entries()) {
      visitObject(item, { type: field.item, path: [...path, name, index] }, context);
    }
  }
}

function findDuplicates(value: object, { type, path }: Place, { found }: Context): void {
  const seen = new Map<string, Set<string>>();
  for (const [name, field] of Object.entries(type.fields)) {
    const items: unknown = (value as Readonly<Record<string, unknown>>)[name];
    if (items === undefined || field.kind !== 'list' || field.key === undefined) continue;
    const keys = seen.get(namespaceOf(name, field)) ?? new Set<string>();
    seen.set(namespaceOf(name, field), keys);
    for (const [index, item] of (items as readonly never[]).entries()) {
      const key = field.key(item);
      if (keys.has(key)) found.push(finding('DUPLICATE', [...path, name, index]));
      keys.add(key);
    }
  }
}
