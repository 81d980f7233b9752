// Converts a config between spec versions. Upwards always works: newer specs only add. Downwards works when nothing is
// lost; otherwise it lists the losses: fields that the older spec does not have, values that it does not accept.
import type { FieldPath } from '../source-text/field-path.ts';
import type { IgnitionConfig } from './config.ts';
import type { IgnitionReport } from './report.ts';
import { jsonPathText, makeReport } from './report.ts';
import type { Field, ObjectType } from './schema.ts';
import { configType } from './schema.ts';
import { normalize } from './serialize.ts';
import type { SpecVersion } from './spec-version.ts';
import { isAtLeast, latestSpec } from './spec-version.ts';
import { findConfigProblems } from './validate.ts';

export interface Loss {
  readonly path: string;
  readonly reason: string;
}

export type Converted =
  | { readonly status: 'converted'; readonly config: IgnitionConfig }
  /** Nothing is converted: the machine would get less than was asked for. */
  | { readonly status: 'lossy'; readonly losses: readonly Loss[] }
  | { readonly status: 'invalid'; readonly report: IgnitionReport };

/** The config must be valid in its own spec; otherwise there is no telling a loss from a mistake. */
export function convert(config: IgnitionConfig, version: SpecVersion): Converted {
  const before = makeReport(findConfigProblems(config));
  if (before.errors.length > 0) return { status: 'invalid', report: before };
  if (isAtLeast(version, config.ignition.version)) return { status: 'converted', config: convertUp(config, version) };

  const losses: Loss[] = [];
  const kept = keepKnown(config, { type: configType, path: [], version }, losses) as unknown as IgnitionConfig;
  const result = normalize({ ...kept, ignition: { ...kept.ignition, version } });
  const refused = makeReport(findConfigProblems(result)).errors;
  for (const { path, message } of refused) losses.push({ path, reason: `${message} (spec ${version})` });
  return losses.length > 0 ? { status: 'lossy', losses } : { status: 'converted', config: result };
}

/** A config of an equal or newer spec that means the same. A config already that new comes back as it is. */
export function convertUp(config: IgnitionConfig, version: SpecVersion = latestSpec): IgnitionConfig {
  const from = config.ignition.version;
  if (isAtLeast(from, version)) return config;
  const filled = fillEmpty(config, configType, { from, to: version }) as unknown as IgnitionConfig;
  return { ...filled, ignition: { ...filled.ignition, version } };
}

type Plain = Readonly<Record<string, unknown>>;

interface Step {
  readonly from: SpecVersion;
  readonly to: SpecVersion;
}

/** Writes the empty texts that older specs left out. */
function fillEmpty(value: object, type: ObjectType, step: Step): Plain {
  const result: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(type.fields)) {
    const member = filledMember((value as Plain)[name], field, step);
    if (member !== undefined) result[name] = member;
  }
  return result;
}

function filledMember(member: unknown, field: Field, step: Step): unknown {
  if (field.kind === 'text' && field.emptyBefore !== undefined) {
    const crosses = !isAtLeast(step.from, field.emptyBefore) && isAtLeast(step.to, field.emptyBefore);
    return crosses ? (member ?? '') : member;
  }
  if (member === undefined) return undefined;
  if (field.kind === 'object') return fillEmpty(member as object, field.object, step);
  if (field.kind !== 'list' || field.item === 'text') return member;
  const { item } = field;
  return (member as readonly object[]).map((entry) => fillEmpty(entry, item, step));
}

interface Target {
  readonly type: ObjectType;
  readonly path: FieldPath;
  readonly version: SpecVersion;
}

/** The fields the older spec has; every other one that says something is a loss. */
function keepKnown(value: object, { type, path, version }: Target, losses: Loss[]): Plain {
  const result: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(type.fields)) {
    const member = (value as Plain)[name];
    const memberPath = [...path, name];
    if (member === undefined) continue;
    if (!isAtLeast(version, field.since)) {
      if (saysSomething(member, field))
        losses.push({ path: jsonPathText(memberPath), reason: `needs spec ${field.since}` });
    } else if (field.kind === 'object') {
      result[name] = keepKnown(member as object, { type: field.object, path: memberPath, version }, losses);
    } else if (field.kind === 'list' && field.item !== 'text') {
      const { item } = field;
      result[name] = (member as readonly object[]).map((entry, index) =>
        keepKnown(entry, { type: item, path: [...memberPath, index], version }, losses),
      );
    } else {
      result[name] = member;
    }
  }
  return result;
}

function saysSomething(member: unknown, field: Field): boolean {
  if (field.kind === 'list') return (member as readonly unknown[]).length > 0;
  if (field.kind === 'object') {
    return Object.entries(field.object.fields).some(([name, inner]) => {
      const value = (member as Plain)[name];
      return value !== undefined && saysSomething(value, inner);
    });
  }
  return field.kind === 'number' || member !== field.byDefault;
}
