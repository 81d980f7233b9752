// Builds the command-line parser from the table of verbs. Help is written elsewhere (help.ts), from the same values.
import { Argument, Command, CommanderError, Option } from 'commander';
import type { CommandSpec, OptionSpec } from './verb.ts';
import { cliErrors } from './errors.ts';
import { globalOptions } from './global-options.ts';
import { nearestName } from './nearest-name.ts';
import { programName } from './program.ts';

export interface ParsedCall {
  readonly spec: CommandSpec;
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** The one verb that `argv` asks for. Throws CLI_USAGE or CLI_UNKNOWN_COMMAND. */
export function parseCall(argv: readonly string[], specs: readonly CommandSpec[]): ParsedCall {
  let call: ParsedCall | undefined;
  const program = configure(new Command(programName)).enablePositionalOptions(specs.some((spec) => spec.passesThrough));
  for (const spec of specs) addVerb(program, spec, (parsed) => (call = parsed));
  for (const group of [program, ...program.commands.filter((command) => command.commands.length > 0)]) {
    rejectUnknown(group, specs);
  }
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw usageError(error, argv, specs);
    throw error;
  }
  if (call === undefined) throw cliErrors.UNKNOWN_COMMAND({ words: argv.join(' ') });
  return call;
}

function addVerb(program: Command, spec: CommandSpec, called: (call: ParsedCall) => void): void {
  const parent = spec.path.slice(0, -1).reduce(findOrAdd, program);
  const verb = configure(parent.command(spec.path.at(-1) ?? ''));
  for (const argument of spec.arguments ?? []) {
    const made = new Argument(argument.name, argument.description);
    verb.addArgument(argument.choices === undefined ? made : made.choices(argument.choices));
  }
  for (const option of [...globalOptions, ...(spec.options ?? [])]) verb.addOption(makeOption(option));
  if (spec.passesThrough === true) verb.allowUnknownOption().passThroughOptions().argument('[args...]');
  verb.action(() => called({ spec, args: verb.args, options: { ...verb.opts(), ...givenBefore(verb) } }));
}

/** Global options that stood before the verb's words win over the verb's defaults, not over what it was given. */
function givenBefore(verb: Command): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (let at = verb.parent; at !== null; at = at.parent) {
    for (const [name, value] of Object.entries(at.opts())) {
      if (at.getOptionValueSource(name) === 'cli' && verb.getOptionValueSource(name) !== 'cli') found[name] ??= value;
    }
  }
  return found;
}

function findOrAdd(parent: Command, word: string): Command {
  return parent.commands.find((command) => command.name() === word) ?? configure(parent.command(word));
}

function rejectUnknown(group: Command, specs: readonly CommandSpec[]): void {
  for (const option of globalOptions) group.addOption(makeOption(option));
  group.allowExcessArguments(true).action(() => {
    const prefix = group.parent === null ? [] : [group.name()];
    const words = [...prefix, ...group.args].join(' ');
    const names = specs.filter((spec) => spec.isHidden !== true).map((spec) => spec.path.join(' '));
    const groups = group.commands.map((command) => [...prefix, command.name()].join(' '));
    const nearest = nearestName(words, [...names, ...groups]);
    throw cliErrors.UNKNOWN_COMMAND({ words, ...(nearest === undefined ? {} : { nearest }) });
  });
}

function configure(command: Command): Command {
  return command
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .helpCommand(false)
    .helpOption(false)
    .showSuggestionAfterError(true)
    .exitOverride();
}

function makeOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.description);
  if (spec.choices !== undefined) option.choices(spec.choices);
  if (spec.defaultValue !== undefined) option.default(spec.defaultValue);
  if (spec.isRepeatable === true) {
    option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  }
  return option;
}

function usageError(error: CommanderError, argv: readonly string[], specs: readonly CommandSpec[]): Error {
  const words = argv.filter((word) => !word.startsWith('-'));
  const spec = specs.find((candidate) => candidate.path.every((word, index) => words[index] === word));
  const reason = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  return cliErrors.USAGE({ reason, command: ['firstlight', ...(spec?.path ?? [])].join(' ') });
}
