// The issues that zod found, as mistakes that a user can correct. A value is repeated only through `textAt`, which
// hides secrets.
import { type FieldPath, fieldPathText, valueAt } from '../source-text/field-path.ts';
import { mistakesMax } from '../source-text/mistake.ts';
import { quoted, redacted } from '../source-text/quoted-text.ts';
import type { Architecture } from './architecture.ts';
import { type Issue, issueAllowed, issueMessage, issueSuggestion } from './issue-messages.ts';
import { fieldsOf, type JsonSchema, jsonSchema, schemaAt } from './json-schema.ts';
import { nearest } from './mistake.ts';
import { type InstallConfig, installConfigSchema } from './schema.ts';
import { holdsSecret } from './secrets.ts';

export interface FieldMistake {
  readonly path: FieldPath;
  /** Whether the mistake is at the key or at the value. */
  readonly at: 'key' | 'value';
  readonly text: string;
  readonly message: string;
  readonly allowed?: string;
  readonly suggestion?: string;
  /** The field whose value is therefore not known: for a typo the one that was meant. */
  readonly suspect: FieldPath;
}

export interface ReadFields {
  /**
   * Complete and well-typed. Where there are mistakes, the fields they are about have their defaults instead, so that
   * the rest can still be judged; absent if even that is not possible.
   */
  readonly config: InstallConfig | undefined;
  readonly mistakes: readonly FieldMistake[];
}

export function readFields(value: Readonly<Record<string, unknown>>, architecture: Architecture): ReadFields {
  const schema = installConfigSchema(architecture);
  const read = schema.safeParse(value, { error: issueMessage });
  if (read.success) return { config: read.data, mistakes: [] };
  const described = jsonSchema(architecture);
  const mistakes = read.error.issues
    .slice(0, mistakesMax)
    .flatMap((issue) => {
      if (issue.code !== 'unrecognized_keys') return [valueMistake(issue, value, described)];
      return unknownFields(fieldPath(issue), issue.keys.slice(0, mistakesMax), described);
    })
    .slice(0, mistakesMax);
  // So many mistakes: the rules between fields would find nothing useful.
  if (mistakes.length >= mistakesMax) return { config: undefined, mistakes };
  const rest = mistakes.reduce((left, { path }) => withoutField(left, path), value);
  return { config: schema.safeParse(rest).data, mistakes };
}

/** The value without the field at the path. A list is removed as a whole, because its indexes would change. */
function withoutField(
  value: Readonly<Record<string, unknown>>,
  [first, ...rest]: FieldPath,
): Readonly<Record<string, unknown>> {
  if (first === undefined || !Object.hasOwn(value, first)) return value;
  const { [first]: inner, ...others } = value;
  const isMap = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return isMap && rest.length > 0 ? { ...value, [first]: withoutField({ ...inner }, rest) } : others;
}

function fieldPath(issue: Issue): FieldPath {
  return issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
}

function valueMistake(issue: Issue, value: unknown, schema: JsonSchema): FieldMistake {
  const path = fieldPath(issue);
  const text = textAt(value, path);
  const allowed = issueAllowed(issue, schemaAt(schema, path));
  const suggestion = issueSuggestion(issue, valueAt(value, path));
  return {
    path,
    at: 'value',
    text,
    message: [fieldPathText(path), text, issue.message].filter((word) => word !== '').join(' '),
    ...(allowed === undefined ? {} : { allowed }),
    ...(suggestion === undefined ? {} : { suggestion }),
    suspect: path,
  };
}

/**
 * Fields of openshift-install that Firstlight does not serve, each with the reason that a user gets instead of a bare
 * "unknown field". A field leaves this table when something honours it.
 */
const unservedFields: ReadonlyMap<string, string> = new Map([
  ['arbiter', 'there are no arbiter machines; use an odd number of masters'],
  ['bootstrapInPlace', 'a cluster is always bootstrapped from a machine of its own'],
  ['cpuPartitioningMode', 'processors are not partitioned'],
  ['credentialsMode', 'there are no cloud credentials to manage'],
  ['imageContentSources', 'openshift-install retired it; use imageDigestSources'],
  ['operatorPublishingStrategy', 'there is no cloud to publish to'],
  ['pki', 'signers are always EC P-256'],
]);

function unknownFields(parent: FieldPath, keys: readonly string[], schema: JsonSchema): readonly FieldMistake[] {
  const here = schemaAt(schema, parent);
  const names = here === undefined ? [] : [...fieldsOf(here).keys()].filter((name) => name !== '$schema');
  return keys.map((key) => {
    const path = [...parent, key];
    const unserved = parent.length === 0 ? unservedFields.get(key) : undefined;
    const suggestion = unserved === undefined ? nearest(key, names) : undefined;
    return {
      path,
      at: 'key',
      text: quoted(key),
      message: `${fieldPathText(path)}: ${unserved ?? 'unknown field'}`,
      ...(unserved === undefined ? { allowed: names.join(', ') || 'no fields' } : {}),
      ...(suggestion === undefined ? {} : { suggestion }),
      suspect: [...parent, suggestion ?? key],
    };
  });
}

/** The text of the value, if it is a single value and no secret. */
export function textAt(value: unknown, path: FieldPath): string {
  const input = valueAt(value, path);
  if (typeof input !== 'string' && typeof input !== 'number' && typeof input !== 'boolean') return '';
  return holdsSecret(path) ? redacted : quoted(input);
}
