// A rule looks at one object of a config and yields what is wrong with it, with paths relative to that object. Rules
// do not depend on each other; a rule that differs between spec versions looks at the version.
import type { ConfigFinding } from '../problems.ts';
import type { Infer, ObjectType } from '../schema.ts';
import type { SpecVersion } from '../spec-version.ts';

export interface SpecRule {
  readonly type: ObjectType;
  readonly check: (value: never, spec: SpecVersion) => Iterable<ConfigFinding>;
}

export function rule<T extends ObjectType>(
  type: T,
  check: (value: Infer<T>, spec: SpecVersion) => Iterable<ConfigFinding>,
): SpecRule {
  return { type, check };
}
