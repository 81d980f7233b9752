// What a verb is: a value that the parser, --help, completion and the docs read. Its body is loaded only when called,
// so that `--help` costs little more than starting Node. A body returns data and text; it prints nothing itself.
import type { Host } from '../../host/host.ts';
import type { Terminal } from '../../host/terminal.ts';
import type { Emit } from '../../workflow/events.ts';

export interface ArgumentSpec {
  /** Commander's notation: `<name>` required, `[name]` optional, `<names...>` several. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
}

export interface OptionSpec {
  /** Commander's notation: `--renew`, `--to <folder>`, `-f, --follow`. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly defaultValue?: string | boolean | number;
  /** May be given several times; the values arrive as a list. */
  readonly isRepeatable?: boolean;
}

export interface CommandSpec {
  /** The words after `firstlight`: `['create', 'manifests']`. */
  readonly path: readonly string[];
  readonly summary: string;
  /** A few sentences that teach; shown by --help under the usage. */
  readonly description?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly string[];
  /** Everything after the words is passed on untouched (`firstlight kubectl get nodes -o wide`). */
  readonly passesThrough?: boolean;
  /** Not listed in help; for units on machines. */
  readonly isHidden?: boolean;
  readonly load: () => Promise<CommandBody>;
}

export type OutputFormat = 'text' | 'json' | 'yaml';

export interface Invocation {
  readonly host: Host;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly args: readonly string[];
  /** By commander's camel-case names; a body reads them through its own zod schema. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly global: GlobalOptions;
}

export interface GlobalOptions {
  /** The asset folder, absolute. */
  readonly dir: string;
  readonly output: OutputFormat;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

export interface CommandResult {
  /** What -o json and -o yaml print. */
  readonly data: unknown;
  /** What -o text prints; complete, with its last newline. */
  readonly text: string;
  /** Where the outcome is not success but was not an error either (`doctor` found something). Default 0. */
  readonly exit?: number;
}

export type CommandBody = (invocation: Invocation) => Promise<CommandResult>;
