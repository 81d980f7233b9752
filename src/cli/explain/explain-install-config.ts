// `firstlight explain installconfig[.path]` and `firstlight explain --json-schema`
import { architectureOf } from '../../install-config/architecture.ts';
import { type ExplainedField, explainInstallConfig as explain, type FieldFacts } from '../../install-config/explain.ts';
import { jsonSchema } from '../../install-config/json-schema.ts';
import { wrapText } from '../../install-config/wrap-text.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';

const width = 80;

export function showInstallConfigField({ host }: Pick<Invocation, 'host'>, path: string): CommandResult {
  const data = explain(path, architectureOf(host.environment.architecture));
  return { data, text: explainedText(data) };
}

export function explainJsonSchema({ host }: Pick<Invocation, 'host'>): CommandResult {
  const data = jsonSchema(architectureOf(host.environment.architecture));
  return { data, text: `${JSON.stringify(data, undefined, 2)}\n` };
}

function explainedText(explained: ExplainedField): string {
  const { kind, version, path, type, fields, rules } = explained;
  return [
    `KIND:    ${kind}`,
    `VERSION: ${version}`,
    `FIELD:   ${path} <${type}>${explained.isRequired ? ' -required-' : ''}`,
    '',
    ...wrapped(explained.description, 2),
    ...factLines(explained, 2),
    ...(fields.length === 0 ? [] : ['', 'FIELDS:', ...fields.flatMap(fieldLines)]),
    ...(rules.length === 0 ? [] : ['', 'RULES:', ...rules.flatMap((rule) => wrapped(rule, 2))]),
    '',
  ].join('\n');
}

function fieldLines(field: FieldFacts): readonly string[] {
  const head = `  ${field.name} <${field.type}>${field.isRequired ? ' -required-' : ''}`;
  return [head, ...factLines(field, 4), ...wrapped(field.description, 4)];
}

function factLines(field: FieldFacts, indent: number): readonly string[] {
  const isTelling = field.default !== undefined && !['{}', '[{}]'].includes(JSON.stringify(field.default));
  return [
    ...(isTelling ? wrapped(`Default: ${JSON.stringify(field.default)}`, indent) : []),
    ...(field.allowed === undefined ? [] : wrapped(`Allowed: ${field.allowed.join(', ')}`, indent)),
    ...(field.examples ?? []).flatMap((example) => wrapped(`Example: ${JSON.stringify(example)}`, indent)),
  ];
}

function wrapped(text: string, indent: number): readonly string[] {
  return wrapText(text, { width, margin: ' '.repeat(indent) });
}
