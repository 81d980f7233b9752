// YAML that Go programs read the way we meant it. The `compat` option quotes what YAML 1.1 would take for a
// boolean or a number (NO, on, 1_000); without it a Kubernetes component may read something else.
import { stringify } from 'yaml';

const style = { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;

export function toYaml(value: unknown): string {
  return stringify(value, style);
}

/** The same value with every text between double quotes, where an escape may stand for any character. */
export function toQuotedYaml(value: unknown): string {
  return stringify(value, { ...style, defaultStringType: 'QUOTE_DOUBLE' });
}

/** Several documents in one file, in order. */
export function toYamlDocuments(values: readonly unknown[]): string {
  return values.map(toYaml).join('---\n');
}
