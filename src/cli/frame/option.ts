// Options and arguments as values: the parser, help, completion and the body of the verb all read the same declaration.
// `read` gives a declaration its type, so a body cannot read an option that its verb does not declare.

/** What the parser found: nothing, a bare flag, one word, or the words of an option that may be repeated. */
export type GivenValue = undefined | boolean | string | readonly string[];

export interface VerbOption<Value> {
  /** Commander's notation: `--renew`, `--to <folder>`, `-f, --follow`. `--no-wait` is `wait`, true unless given. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** Shown by --help. */
  readonly defaultValue?: string | number | boolean;
  readonly isRepeatable?: boolean;
  /** Throws UnreadableValue. */
  readonly read: (given: GivenValue) => Value;
}

export interface VerbArgument<Value> {
  readonly description: string;
  readonly isRequired: boolean;
  readonly isList: boolean;
  readonly choices?: readonly string[];
  readonly read: (given: GivenValue) => Value;
}

/** By the name under which the body reads it; the order is that of --help. */
export type OptionTable = Readonly<Record<string, VerbOption<unknown>>>;
/** By the name that --help shows; the order is that of the command line. */
export type ArgumentTable = Readonly<Record<string, VerbArgument<unknown>>>;

/** What a body gets for a table of declarations. */
export type ValuesOf<Table extends Readonly<Record<string, { readonly read: (given: GivenValue) => unknown }>>> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['read']>;
};

/** The parser turns it into a usage error that names the option. */
export class UnreadableValue extends Error {}

/** What a word means; undefined where it means nothing. */
export interface ValueKind<Value extends string | number> {
  readonly parse: (word: string) => Value | undefined;
  /** The second half of "It must be …", for a word that means nothing. */
  readonly expected: string;
  readonly choices?: readonly Value[];
}

export const text: ValueKind<string> = { parse: (word) => word, expected: 'text' };

export const positiveNumber: ValueKind<number> = {
  parse: (word) => numberIf(word, (number) => number > 0 && Number.isFinite(number)),
  expected: 'a number above 0',
};

export const positiveInteger: ValueKind<number> = {
  parse: (word) => numberIf(word, (number) => number > 0 && Number.isSafeInteger(number)),
  expected: 'a whole number above 0',
};

export const portNumber: ValueKind<number> = {
  parse: (word) => numberIf(word, (number) => Number.isInteger(number) && number >= 0 && number <= 65_535),
  expected: 'a port, 0 to 65535',
};

export function choiceOf<const Choice extends string>(choices: readonly Choice[]): ValueKind<Choice> {
  return {
    parse: (word) => choices.find((choice) => choice === word),
    expected: `one of ${choices.join(', ')}`,
    choices,
  };
}

export function flag(flags: string, description: string): VerbOption<boolean> {
  return { flags, description, read: (given) => given === true };
}

/** `--name <value>`: without the second half the parser would take the option for a flag. */
type FlagsWithValue = `${string} <${string}>`;

/** An option with a value; undefined where it is not given. */
export function option<Value extends string | number>(
  flags: FlagsWithValue,
  description: string,
  kind: ValueKind<Value>,
): VerbOption<Value | undefined> {
  const read = (given: GivenValue): Value | undefined =>
    typeof given === 'string' ? parseWord(kind, given) : undefined;
  return { flags, description, ...shownChoices(kind), read };
}

export function optionWithDefault<Value extends string | number>(
  flags: FlagsWithValue,
  description: string,
  kind: ValueKind<Value>,
  defaultValue: Value,
): VerbOption<Value> {
  const read = (given: GivenValue): Value => (typeof given === 'string' ? parseWord(kind, given) : defaultValue);
  return { flags, description, ...shownChoices(kind), defaultValue, read };
}

/** An option that may be given several times. */
export function repeatableOption<Value extends string | number>(
  flags: FlagsWithValue,
  description: string,
  kind: ValueKind<Value>,
): VerbOption<readonly Value[]> {
  const read = (given: GivenValue): readonly Value[] =>
    Array.isArray(given) ? given.map((word: string) => parseWord(kind, word)) : [];
  return { flags, description, isRepeatable: true, read };
}

/** `--dry-run`, `--dry-run=false`: true where it is bare, a word where it has one. */
export function optionWithOptionalWord(
  flags: string,
  description: string,
  defaultValue?: boolean,
): VerbOption<string | boolean | undefined> {
  return {
    flags,
    description,
    ...(defaultValue === undefined ? {} : { defaultValue }),
    read: (given) => (typeof given === 'string' || typeof given === 'boolean' ? given : defaultValue),
  };
}

export function argument(description: string): VerbArgument<string> {
  return choiceArgument(description, text);
}

export function choiceArgument<Value extends string>(description: string, kind: ValueKind<Value>): VerbArgument<Value> {
  const read = (given: GivenValue): Value => parseWord(kind, typeof given === 'string' ? given : '');
  return { description, isRequired: true, isList: false, ...shownChoices(kind), read };
}

export function optionalArgument(description: string): VerbArgument<string | undefined> {
  const read = (given: GivenValue): string | undefined => (typeof given === 'string' ? given : undefined);
  return { description, isRequired: false, isList: false, read };
}

/** One or more words. */
export function argumentList(description: string): VerbArgument<readonly string[]> {
  return { description, isRequired: true, isList: true, read: wordsOf };
}

/** Any number of words, also none. */
export function optionalArgumentList(description: string): VerbArgument<readonly string[]> {
  return { description, isRequired: false, isList: true, read: wordsOf };
}

/** `<name>`, `[name]`, `<names...>` or `[names...]`. */
export function argumentNotation(name: string, { isRequired, isList }: VerbArgument<unknown>): string {
  const inner = isList ? `${name}...` : name;
  return isRequired ? `<${inner}>` : `[${inner}]`;
}

function shownChoices({ choices }: ValueKind<string | number>): { readonly choices?: readonly string[] } {
  return choices === undefined ? {} : { choices: choices.map(String) };
}

function parseWord<Value extends string | number>(kind: ValueKind<Value>, word: string): Value {
  const value = kind.parse(word);
  if (value === undefined) throw new UnreadableValue(`argument '${word}' is invalid. It must be ${kind.expected}.`);
  return value;
}

function numberIf(word: string, isAllowed: (number: number) => boolean): number | undefined {
  const number = word.trim() === '' ? Number.NaN : Number(word);
  return isAllowed(number) ? number : undefined;
}

function wordsOf(given: GivenValue): readonly string[] {
  return Array.isArray(given) ? given : [];
}
