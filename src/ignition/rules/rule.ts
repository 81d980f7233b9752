// A rule looks at one object of a config and yields what is wrong with it, with paths relative to that object. Rules
// know nothing of each other; where a spec version changes one, it asks for the version.
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
