// A hand-written case: a config, and the codes of everything that is wrong with it. The verdict follows from the codes
// and is also asked from Ignition.
import type { ProblemCode } from '../../../src/ignition/problems.ts';
import type { SpecVersion } from '../../../src/ignition/spec-version.ts';

export interface Case {
  readonly title: string;
  readonly text: string;
  readonly codes: readonly ProblemCode[];
  /** The text is bytes, written as Latin-1: they are no UTF-8. */
  readonly isBytes?: true;
}

/** A case of the newest spec; `body` is everything but `ignition.version`. */
export function config(title: string, body: object, ...codes: ProblemCode[]): Case {
  return configOf('3.5.0', title, body, ...codes);
}

export function configOf(spec: SpecVersion, title: string, body: object, ...codes: ProblemCode[]): Case {
  const { ignition = {}, ...rest } = body as { readonly ignition?: object };
  const text = JSON.stringify({ ignition: { version: spec, ...ignition }, ...rest }, null, 2);
  return { title: `${spec}: ${title}`, text, codes };
}

export function raw(title: string, text: string, ...codes: ProblemCode[]): Case {
  return { title, text, codes };
}

/** A case of the newest spec whose body is not UTF-8. */
export function bytes(title: string, body: string, ...codes: ProblemCode[]): Case {
  return { title, text: `{"ignition":{"version":"3.5.0"},${body}}`, codes, isBytes: true };
}
