// An install-config as a file with comments: above every field its description from `explain`, and a first line that
// lets editors complete fields. Reading the file gives back exactly the config that was rendered.
import { Document, isMap, isScalar, isSeq, type ToStringOptions } from 'yaml';
import type { Architecture } from './architecture.ts';
import { fieldsOf, type JsonSchema, jsonSchema, schemaFile } from './json-schema.ts';
import type { InstallConfigInput } from './schema.ts';
import { wrapText } from './wrap-text.ts';

const commentWidth = 100;
/** Go readers follow YAML 1.1, where a bare `on` is true and `1_000` a number: such texts are quoted. */
const documentOptions = { compat: 'yaml-1.1', aliasDuplicateObjects: false } as const;
const textOptions: ToStringOptions = { lineWidth: 0 };

export function renderInstallConfig(input: InstallConfigInput, architecture: Architecture): string {
  const schema = jsonSchema(architecture);
  const document = new Document(input, documentOptions);
  document.commentBefore = ` yaml-language-server: $schema=${schemaFile}`;
  document.comment = footer(input, schema);
  describe(document.contents, schema, 0);
  return document.toString(textOptions);
}

/** Puts each field's description above it. The first field of a list entry has none: its list has one already. */
function describe(node: unknown, schema: JsonSchema, depth: number): void {
  if (isSeq(node)) for (const item of node.items) describe(item, schema, depth);
  if (!isMap(node)) return;
  const fields = fieldsOf(schema);
  const isListEntry = schema.items !== undefined;
  for (const [i, { key, value }] of node.items.entries()) {
    const field = isScalar(key) ? fields.get(String(key.value)) : undefined;
    if (!isScalar(key) || field === undefined) continue;
    key.spaceBefore = depth === 0 && i > 0;
    if (field.description !== undefined && field.const === undefined && !(isListEntry && i === 0)) {
      key.commentBefore = comment(field.description, depth);
    }
    describe(value, field, depth + 1);
  }
}

function footer(input: InstallConfigInput, schema: JsonSchema): string {
  const absent = [...fieldsOf(schema).keys()].filter((name) => name !== '$schema' && !Object.hasOwn(input, name));
  const others = absent.length === 0 ? '' : `Not set here, so with their defaults: ${absent.join(', ')}. `;
  return comment(`${others}\`firstlight explain installconfig\` describes every field.`, 0);
}

function comment(text: string, depth: number): string {
  return wrapText(text, { width: commentWidth - 2 * depth - 1, margin: ' ' }).join('\n');
}
