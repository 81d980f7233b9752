// A rule between fields, as a value. It reads a complete, well-typed config; it is skipped while one of the fields it
// reads has a mistake, so that a user never gets a second message caused by the first.
import type { FieldPath } from '../source-text/field-path.ts';
import type { Architecture } from './architecture.ts';
import type { InstallConfig } from './schema.ts';

export interface RuleInput {
  readonly config: InstallConfig;
  /** Of the machine firstlight runs on. */
  readonly architecture: Architecture;
  /** True when the user wrote the field, false when it has its default. */
  readonly isWritten: (path: FieldPath) => boolean;
}

export interface RuleFinding {
  /** The field to point at. Where it is not written, the place is that of its nearest ancestor that is. */
  readonly path: FieldPath;
  /** A whole sentence without a full stop. */
  readonly message: string;
  readonly allowed?: string;
}

export interface ConfigRule {
  readonly name: string;
  /** The rule in one sentence, for `explain` of the fields it reads. */
  readonly says: string;
  readonly severity: 'mistake' | 'warning';
  readonly reads: readonly FieldPath[];
  readonly find: (input: RuleInput) => readonly RuleFinding[];
}
