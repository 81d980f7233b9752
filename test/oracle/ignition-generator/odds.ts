// How often a generated value breaks a rule. Every arbitrary of the generator is built from these few, so that one
// number turns valid configs into almost valid ones.
import * as fc from 'fast-check';

export interface Odds {
  /** False when only valid values are made. */
  readonly allowBad: boolean;
  /** Mostly the good one. */
  readonly either: (good: fc.Arbitrary<unknown>, bad: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>;
  readonly pick: (good: Choices, bad: Choices) => fc.Arbitrary<unknown>;
  /** Mostly without two entries of one key. */
  readonly list: (
    item: fc.Arbitrary<unknown>,
    key: (item: never) => unknown,
    maxLength?: number,
  ) => fc.Arbitrary<unknown>;
}

type Choices = readonly (string | number)[];
type Members = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** `goodPerBad` is Infinity for valid values only. */
export function odds(goodPerBad: number): Odds {
  const allowBad = Number.isFinite(goodPerBad);
  const either: Odds['either'] = (good, bad) =>
    allowBad ? fc.oneof({ arbitrary: good, weight: goodPerBad }, { arbitrary: bad, weight: 1 }) : good;
  return {
    allowBad,
    either,
    pick: (good, bad) => either(fc.constantFrom(...good), fc.constantFrom(...bad)),
    list: (item, key, maxLength = 3) =>
      either(
        fc.uniqueArray(item, { maxLength, selector: (one) => key(one as never) }),
        fc.array(item, { minLength: 2, maxLength }),
      ),
  };
}

/** An object with every required member and any of the optional ones. */
export function object(required: Members, optional: Members = {}): fc.Arbitrary<object> {
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
}

export const flag = fc.boolean();
export const itself = (item: never): unknown => item;
export const byName = ({ name }: { readonly name: string }): string => name;
export const byDevice = ({ device }: { readonly device: string }): string => device;

/** Text over an alphabet, each of whose letters may be several characters. */
export function over(alphabet: string | readonly string[], maxLength: number, minLength = 0): fc.Arbitrary<string> {
  const letters = typeof alphabet === 'string' ? alphabet.split('') : alphabet;
  return fc.string({ unit: fc.constantFrom(...letters), minLength, maxLength });
}
