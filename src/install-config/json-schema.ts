// The JSON Schema of an install-config, made from the one definition: what editors complete from, and the plain data
// that `explain` and the nearest-name search walk. Draft 7, because that is what every editor knows.
import { z } from 'zod';
import { ownFolder } from '../contract/asset-folder.ts';
import type { FieldPath } from '../source-text/field-path.ts';
import type { Architecture } from './architecture.ts';
import { installConfigSchema } from './schema.ts';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

const made = new Map<Architecture, JsonSchema>();

export function jsonSchema(architecture: Architecture): JsonSchema {
  const schema = made.get(architecture) ?? makeJsonSchema(architecture);
  made.set(architecture, schema);
  return schema;
}

function makeJsonSchema(architecture: Architecture): JsonSchema {
  const title = 'install-config of Firstlight';
  const description = 'What a cluster is to be. Every field has a default: an empty file is a cluster on this host.';
  return {
    title,
    description,
    ...z.toJSONSchema(installConfigSchema(architecture), { io: 'input', target: 'draft-7' }),
  };
}

/** The schema of the field at the path; indices of lists may be given or left out. */
export function schemaAt(root: JsonSchema, path: FieldPath): JsonSchema | undefined {
  let here: JsonSchema | undefined = root;
  for (const part of path) {
    if (here === undefined) return undefined;
    here = typeof part === 'number' ? itemOf(here) : fieldsOf(here).get(part);
  }
  return here;
}

/** The fields of a map, or of the entries of a list. */
export function fieldsOf(schema: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const holder = itemOf(schema) ?? schema;
  const fields = Object.entries(holder.properties ?? {});
  return new Map(fields.filter((field): field is [string, JsonSchema] => typeof field[1] === 'object'));
}

/** What the entries of a list are; a list of exactly one entry has a list of one schema. */
export function itemOf(schema: JsonSchema): JsonSchema | undefined {
  const first = Array.isArray(schema.items) ? schema.items[0] : schema.items;
  return typeof first === 'object' ? first : undefined;
}

/** Where the schema lies in an asset folder; the first line of install-config.yaml points there. */
export const schemaFile = `${ownFolder}/install-config.schema.json`;
