// Messages for zod's issues in an install-config. A message in the schema itself (`error`, `check`) wins over these.
import type { z } from 'zod';
import type { JsonSchema } from './json-schema.ts';
import { nearest } from './mistake.ts';

export type RawIssue = z.core.$ZodRawIssue;
export type Issue = z.core.$ZodIssue;

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'a map of fields',
};

/** The end of a sentence that begins with the field and what stands there. */
export function issueMessage(issue: RawIssue): string {
  if (issue.input === undefined) return 'is missing';
  if (issue.code === 'invalid_type') return wrongKind(issue.expected, issue.input);
  if (issue.code === 'invalid_value') return 'is not one of the allowed values';
  if (issue.code === 'too_small') return issue.origin === 'array' ? 'has no entry' : `is less than ${issue.minimum}`;
  if (issue.code === 'too_big') {
    return issue.origin === 'array' ? `has more than ${issue.maximum} entries` : `is more than ${issue.maximum}`;
  }
  return 'is not allowed';
}

function wrongKind(expected: string, input: unknown): string {
  const wanted = kinds[expected] ?? expected;
  if (typeof input === 'string' && ['number', 'int', 'boolean'].includes(expected)) {
    const isBare = expected === 'boolean' ? /^(true|false)$/.test(input) : /^\d+$/.test(input);
    return `is text and must be ${wanted}${isBare ? '; leave the quotes out' : ''}`;
  }
  if (expected === 'string' && (typeof input === 'number' || typeof input === 'boolean')) {
    return 'is not text; put it in quotes';
  }
  // JSON in a field for text, such as a pull secret without quotes, is read as YAML.
  const remedy =
    expected === 'string' && typeof input === 'object' && input !== null ? '; put it in single quotes' : '';
  return `is ${kindOf(input)} and must be ${wanted}${remedy}`;
}

function kindOf(input: unknown): string {
  if (input === null) return 'empty';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'object') return 'a map of fields';
  return typeof input === 'string' ? 'text' : `a ${typeof input}`;
}

/** What would be right, as far as the issue and the schema of its field know. */
export function issueAllowed(issue: Issue, field: JsonSchema | undefined): string | undefined {
  if (field?.minimum !== undefined && field.maximum !== undefined) return `${field.minimum} to ${field.maximum}`;
  if (issue.code === 'invalid_value') return issue.values.map(String).join(', ');
  const allowed: unknown = issue.code === 'custom' ? issue.params?.['allowed'] : undefined;
  return typeof allowed === 'string' ? allowed : undefined;
}

export function issueSuggestion(issue: Issue, input: unknown): string | undefined {
  if (issue.code !== 'invalid_value' || typeof input !== 'string') return undefined;
  return nearest(input, issue.values.map(String));
}
