// A rule looks at one object of a config and yields what is wrong with it, with paths relative to that object. Rules
// know nothing of each other; where a spec version changes one, it asks for the version.
import type { Finding } from '../problems.ts';
import type { Infer, ObjectType } from '../schema.ts';
import type { SpecVersion } from '../spec-version.ts';

export interface Rule {
  readonly type: ObjectType;
  readonly check: (value: never, spec: SpecVersion) => Iterable<Finding>;
}

export function rule<T extends ObjectType>(
  type: T,
  check: (value: Infer<T>, spec: SpecVersion) => Iterable<Finding>,
): Rule {
  return { type, check };
}
