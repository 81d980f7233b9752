// Help, written from the table of verbs alone. It needs no parser, so asking for help costs little more than bare Node.
import { exitCodes } from '../../errors/exit-codes.ts';
import { globalOptions } from './global-options.ts';
import { argumentNotation, type OptionTable } from './option.ts';
import { rowNamed, type Verb, type VerbRow, type VerbTable } from './verb.ts';

/** What the exit codes mean. */
export const exitCodeHelp: readonly (readonly [number, string])[] = [
  [exitCodes.ok, 'done'],
  [exitCodes.other, 'an error that is none of those below'],
  [exitCodes.usage, 'the command line is wrong'],
  [exitCodes.badConfig, 'the install-config or an asset is wrong'],
  [exitCodes.infrastructure, 'the machine, the disk or the network refused'],
  [exitCodes.bootstrapFailed, 'the bootstrap failed'],
  [exitCodes.installFailed, 'the installation failed'],
  [exitCodes.notStable, 'the cluster is not stable'],
  [exitCodes.interrupted, 'interrupted; the same command continues'],
  [exitCodes.auditFailed, 'a control of the audit failed'],
];

type Row = readonly [string, string];

/** The help that `argv` asks for: overview, group or verb. Undefined where it asks for none, or by unknown words. */
export async function requestedHelp(
  argv: readonly string[],
  table: VerbTable,
  columns: number,
): Promise<string | undefined> {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  if (own.length === 0) return overview(table, columns);
  if (!own.some((word) => word === '--help' || word === '-h')) return undefined;
  const typed = own.filter((word) => !word.startsWith('-'));
  const words = typed[0] === 'help' ? typed.slice(1) : typed;
  if (words.length === 0) return overview(table, columns);
  const row = rowNamed(words, table);
  if (row === undefined) return words.length > 1 ? undefined : groupHelp(words[0] ?? '', table, columns);
  const verb = await row.load();
  // `firstlight kubectl --help` is answered by kubectl.
  return verb.passesThrough === true && words === typed
    ? undefined
    : verbHelp({ row, verb, below: rowsBelow(row, table) }, columns);
}

function overview({ rows }: VerbTable, columns: number): string {
  return [
    'Firstlight takes a cluster from nothing to a handed-off, highly available Kubernetes control plane.\n',
    'Usage: firstlight <command> [options]\n',
    verbSection(rows, columns),
    optionSection('Options of every command', globalOptions, columns),
    section(
      'Exit codes',
      exitCodeHelp.map(([code, text]) => [String(code), text]),
      columns,
    ),
    'firstlight <command> --help teaches one command; firstlight explain says what things are and why.\n',
  ].join('\n');
}

function groupHelp(name: string, { groups, rows }: VerbTable, columns: number): string | undefined {
  const group = rows.filter((row) => row.words.startsWith(`${name} `) && row.isHidden !== true);
  if (group.length === 0) return undefined;
  return [
    `${groups[name] ?? ''}\n`,
    `Usage: firstlight ${name} <command> [options]\n`,
    verbSection(group, columns),
  ].join('\n');
}

/** A verb may also be the first word of others. */
function rowsBelow({ words }: VerbRow, { rows }: VerbTable): readonly VerbRow[] {
  return rows.filter((row) => row.words.startsWith(`${words} `));
}

interface ShownVerb {
  readonly row: VerbRow;
  readonly verb: Verb;
  readonly below: readonly VerbRow[];
}

function verbHelp({ row, verb, below }: ShownVerb, columns: number): string {
  const args = Object.entries(verb.args ?? {}).map(
    ([name, declared]): Row => [argumentNotation(name, declared), withChoices(declared.description, declared.choices)],
  );
  const after = verb.passesThrough === true ? '…' : '[options]';
  return [
    `${row.summary}\n`,
    `Usage: ${['firstlight', row.words, ...args.map(([notation]) => notation), after].join(' ')}\n`,
    ...(verb.description === undefined ? [] : [`${wrap(verb.description, columns)}\n`]),
    section('Arguments', args, columns),
    verbSection(below, columns),
    optionSection('Options', verb.options ?? {}, columns),
    optionSection('Options of every command', globalOptions, columns),
    `Examples:\n${verb.examples.map((example) => `  ${example}\n`).join('')}`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function verbSection(rows: readonly VerbRow[], columns: number): string {
  const shown = rows.filter((row) => row.isHidden !== true);
  return section(
    'Commands',
    shown.map((row) => [row.words, row.summary]),
    columns,
  );
}

function optionSection(title: string, options: OptionTable, columns: number): string {
  const rows = Object.values(options).map(({ flags, description, choices, defaultValue }): Row => {
    const base = withChoices(description, choices);
    return [flags, defaultValue === undefined ? base : `${base} (default ${defaultValue})`];
  });
  return section(title, rows, columns);
}

function withChoices(description: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? description : `${description}: ${choices.join(', ')}`;
}

function section(title: string, rows: readonly Row[], columns: number): string {
  if (rows.length === 0) return '';
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  const text = rows.map(([name, words]) => {
    const lines = wrap(words, columns - width - 2).split('\n');
    return `  ${name.padEnd(width)}${lines.join(`\n${' '.repeat(width + 2)}`)}\n`;
  });
  return `${title}:\n${text.join('')}`;
}

/** Breaks at spaces; keeps the paragraphs of the text. */
function wrap(text: string, columns: number): string {
  return text
    .split('\n')
    .map((paragraph) => wrapParagraph(paragraph, Math.max(columns, 30)))
    .join('\n');
}

function wrapParagraph(text: string, columns: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}
