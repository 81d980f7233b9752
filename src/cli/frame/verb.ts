// What a verb is. Its words and summary stand in the table of all verbs (cli/verbs.ts), everything else in one value in
// its own file. That file imports only what is light and its body loads the rest, because help and completion read the
// file without running it. A body returns data and text; it prints nothing itself.
import type { Host } from '../../host/host.ts';
import type { Terminal } from '../../host/terminal.ts';
import type { Emit } from '../../workflow/events.ts';
import type { GlobalOptions } from './global-options.ts';
import type { ArgumentTable, OptionTable, ValuesOf } from './option.ts';

/** A row of the table. It loads its verb when it is needed: to load all fifty files at every start would cost 15 ms. */
export interface VerbRow {
  /** What stands after `firstlight`: `create manifests`. */
  readonly words: string;
  readonly summary: string;
  /** Not listed in help; for units on machines. */
  readonly isHidden?: boolean;
  readonly load: () => Promise<Verb>;
}

export interface VerbTable {
  /** First word of several verbs → what they are about. */
  readonly groups: Readonly<Record<string, string>>;
  /** In the order of --help. */
  readonly rows: readonly VerbRow[];
}

export interface Verb<Arguments extends ArgumentTable = ArgumentTable, Options extends OptionTable = OptionTable> {
  /** A few sentences that teach; shown by --help under the usage. */
  readonly description?: string;
  readonly args?: Arguments;
  readonly options?: Options;
  readonly examples: readonly string[];
  /** Everything after the words is passed on untouched (`firstlight kubectl get nodes -o wide`). */
  readonly passesThrough?: boolean;
  /** A method, so that verbs with different options fit into one table; the parser reads the options of this verb. */
  run(invocation: Invocation<ValuesOf<Arguments>, ValuesOf<Options>>): Promise<CommandResult>;
}

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- for a verb that declares nothing
type NoDeclarations = Readonly<Record<never, never>>;

/** Lets TypeScript infer what the body gets from the declared arguments and options. */
export function defineVerb<
  Arguments extends ArgumentTable = NoDeclarations,
  Options extends OptionTable = NoDeclarations,
>(verb: Verb<Arguments, Options>): Verb<Arguments, Options> {
  return verb;
}

export interface Invocation<Arguments = unknown, Options = unknown> {
  readonly host: Host;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly args: Arguments;
  readonly options: Options;
  readonly global: GlobalOptions;
  /** The words of a verb that passes them through. */
  readonly passedOn: readonly string[];
}

export interface CommandResult {
  /** What -o json and -o yaml print. */
  readonly data: unknown;
  /** What -o text prints; complete, with its last newline. */
  readonly text: string;
  /** The text is the content of a file, which a pipe gets unchanged. */
  readonly isContent?: boolean;
  /** Where the outcome is not success but was not an error either (`doctor` found something). Default 0. */
  readonly exit?: number;
}

/** The row whose words `words` begin with. */
export function rowNamed(words: readonly string[], { rows }: VerbTable): VerbRow | undefined {
  const line = `${words.join(' ')} `;
  return rows.findLast((row) => line.startsWith(`${row.words} `));
}
