// Finds the verb that a command line names, loads it, and lets commander read the line by the verb's declarations.
// Help is written elsewhere (help.ts), from the same values.
import { Argument, Command, CommanderError, Option } from 'commander';
import { cliErrors } from './errors.ts';
import { type GlobalOptions, globalOptions } from './global-options.ts';
import { nearestName } from './nearest-name.ts';
import {
  argumentNotation,
  type GivenValue,
  type OptionTable,
  UnreadableValue,
  type ValuesOf,
  type VerbOption,
} from './option.ts';
import { programName } from './program.ts';
import { rowNamed, type Verb, type VerbRow, type VerbTable } from './verb.ts';

export interface ParsedCall {
  readonly verb: Verb;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly global: GlobalOptions;
  readonly passedOn: readonly string[];
}

/** The one verb that `argv` asks for. Throws CLI_USAGE or CLI_UNKNOWN_COMMAND. */
export async function parseCall(argv: readonly string[], table: VerbTable): Promise<ParsedCall> {
  const called = rowNamed(wordsOf(argv), table);
  const verb = await called?.load();
  let call: ParsedCall | undefined;
  const program = configure(new Command(programName)).enablePositionalOptions();
  let own: Command | undefined;
  for (const row of table.rows) {
    const command = addWords(program, row);
    if (row !== called || verb === undefined) continue;
    declare(command, verb, (parsed) => (call = parsed));
    own = command;
  }
  // A verb may also be the first word of others (`gather`, `gather bootstrap`): then it is no group when it is called.
  const groups = program.commands.filter((command) => command.commands.length > 0 && command !== own);
  for (const group of [program, ...groups]) rejectUnknown(group, table.rows);
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError || error instanceof UnreadableValue) throw usageError(error, called);
    throw error;
  }
  if (call === undefined) throw cliErrors.UNKNOWN_COMMAND({ words: argv.join(' ') });
  return call;
}

/** The words of a command line, without options and without the values of those that may stand before the verb. */
function wordsOf(argv: readonly string[]): readonly string[] {
  const globalFlags = Object.values(globalOptions).flatMap(({ flags }) => flags.match(/--?[a-z-]+/g) ?? []);
  return argv.filter((word, index) => !word.startsWith('-') && !globalFlags.includes(argv[index - 1] ?? ''));
}

function addWords(program: Command, row: VerbRow): Command {
  const words = row.words.split(' ');
  const parent = words.slice(0, -1).reduce(findOrAdd, program);
  return configure(parent.command(words.at(-1) ?? ''));
}

function declare(command: Command, verb: Verb, called: (call: ParsedCall) => void): void {
  for (const [name, declared] of Object.entries(verb.args ?? {})) {
    const made = new Argument(argumentNotation(name, declared), declared.description);
    command.addArgument(declared.choices === undefined ? made : made.choices(declared.choices));
  }
  for (const declared of [...Object.values(globalOptions), ...Object.values(verb.options ?? {})]) {
    command.addOption(commanderOption(declared));
  }
  if (verb.passesThrough === true) command.allowUnknownOption().passThroughOptions().argument('[args...]');
  command.action(() => called(readCall(command, verb)));
}

function readCall(command: Command, verb: Verb): ParsedCall {
  const given: Readonly<Record<string, GivenValue>> = { ...command.opts(), ...givenBefore(command) };
  const args = Object.entries(verb.args ?? {}).map(([name, declared], index) => [
    name,
    declared.read(command.processedArgs[index] as GivenValue),
  ]);
  return {
    verb,
    args: Object.fromEntries(args) as Readonly<Record<string, unknown>>,
    options: readOptions(verb.options ?? {}, given),
    global: readOptions(globalOptions, given),
    passedOn: verb.passesThrough === true ? command.args : [],
  };
}

function readOptions<Table extends OptionTable>(
  table: Table,
  given: Readonly<Record<string, GivenValue>>,
): ValuesOf<Table> {
  const values = Object.entries(table).map(([name, declared]) => {
    try {
      return [name, declared.read(given[commanderOption(declared).attributeName()])];
    } catch (error) {
      if (error instanceof UnreadableValue) throw new UnreadableValue(`option '${declared.flags}' ${error.message}`);
      throw error;
    }
  });
  return Object.fromEntries(values) as ValuesOf<Table>;
}

/** Global options that stood before the verb's words win over the verb's defaults, not over what it was given. */
function givenBefore(command: Command): Record<string, GivenValue> {
  const found: Record<string, GivenValue> = {};
  for (let at = command.parent; at !== null; at = at.parent) {
    for (const [name, value] of Object.entries(at.opts<Record<string, GivenValue>>())) {
      if (at.getOptionValueSource(name) === 'cli' && command.getOptionValueSource(name) !== 'cli') {
        found[name] ??= value;
      }
    }
  }
  return found;
}

function findOrAdd(parent: Command, word: string): Command {
  return parent.commands.find((command) => command.name() === word) ?? configure(parent.command(word));
}

function rejectUnknown(group: Command, rows: readonly VerbRow[]): void {
  for (const declared of Object.values(globalOptions)) group.addOption(commanderOption(declared));
  group.allowExcessArguments(true).action(() => {
    const prefix = group.parent === null ? [] : [group.name()];
    const words = [...prefix, ...group.args].join(' ');
    const names = rows.filter((row) => row.isHidden !== true).map((row) => row.words);
    const groups = group.commands.filter((command) => command.commands.length > 0).map((command) => command.name());
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

/** Without the default: the declaration's own `read` fills it in. */
function commanderOption({ flags, description, choices, isRepeatable }: VerbOption<unknown>): Option {
  const made = new Option(flags, description);
  if (choices !== undefined) made.choices(choices);
  if (isRepeatable === true) {
    made.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  }
  return made;
}

function usageError(error: Error, called: VerbRow | undefined): Error {
  const reason = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  return cliErrors.USAGE({ reason, command: [programName, ...(called === undefined ? [] : [called.words])].join(' ') });
}
