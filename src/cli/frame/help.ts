// Help, written from the table of verbs alone. It needs no parser, so asking for help costs little more than bare Node.
import type { CommandSpec, OptionSpec } from './verb.ts';
import { exitCodeHelp } from './exit-code-help.ts';
import { globalOptions } from './global-options.ts';
import { groupSummaries } from './groups.ts';

type Row = readonly [string, string];

/** The words of a call for help, without options; undefined when help was not asked for. */
export function helpWords(argv: readonly string[], specs: readonly CommandSpec[]): readonly string[] | undefined {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  if (own.length === 0) return [];
  const at = own.findIndex((word) => word === '--help' || word === '-h');
  const words = own.filter((word) => !word.startsWith('-'));
  const passing = specs.find((spec) => spec.passesThrough === true && isPrefix(spec.path, words));
  // `firstlight kubectl --help` is kubectl's to answer.
  if (at === -1 || passing !== undefined) return undefined;
  return words[0] === 'help' ? words.slice(1) : words;
}

/** Help for the verb or group that `words` begin with; undefined when there is none. */
export function helpText(words: readonly string[], specs: readonly CommandSpec[], columns: number): string | undefined {
  if (words.length === 0) return overview(specs, columns);
  const verb = specs.findLast((spec) => isPrefix(spec.path, words));
  if (verb !== undefined) return verbHelp(verb, columns);
  const group = specs.filter((spec) => spec.path.length > 1 && spec.path[0] === words[0] && spec.isHidden !== true);
  return group.length === 0 || words.length > 1 ? undefined : groupHelp(words[0] ?? '', group, columns);
}

function overview(specs: readonly CommandSpec[], columns: number): string {
  const shown = specs.filter((spec) => spec.isHidden !== true);
  return [
    'Firstlight takes a cluster from nothing to a handed-off, highly available Kubernetes control plane.\n',
    'Usage: firstlight <command> [options]\n',
    section(
      'Commands',
      shown.map((spec) => [spec.path.join(' '), spec.summary]),
      columns,
    ),
    section('Options of every command', globalOptions.map(optionRow), columns),
    section(
      'Exit codes',
      exitCodeHelp.map(([code, text]) => [String(code), text]),
      columns,
    ),
    'firstlight <command> --help teaches one command; firstlight explain says what things are and why.\n',
  ].join('\n');
}

function groupHelp(name: string, group: readonly CommandSpec[], columns: number): string {
  return [
    `${groupSummaries[name] ?? ''}\n`,
    `Usage: firstlight ${name} <command> [options]\n`,
    section(
      'Commands',
      group.map((spec) => [spec.path.join(' '), spec.summary]),
      columns,
    ),
  ].join('\n');
}

function verbHelp(spec: CommandSpec, columns: number): string {
  const args = (spec.arguments ?? []).map((argument) => argument.name);
  const usage = ['firstlight', ...spec.path, ...args, ...(spec.passesThrough === true ? ['…'] : ['[options]'])].join(
    ' ',
  );
  return [
    `${spec.summary}\n`,
    `Usage: ${usage}\n`,
    ...(spec.description === undefined ? [] : [`${wrap(spec.description, columns)}\n`]),
    section(
      'Arguments',
      (spec.arguments ?? []).map((a) => [a.name, withChoices(a.description, a.choices)]),
      columns,
    ),
    section('Options', (spec.options ?? []).map(optionRow), columns),
    section('Options of every command', globalOptions.map(optionRow), columns),
    `Examples:\n${spec.examples.map((example) => `  ${example}\n`).join('')}`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function optionRow(option: OptionSpec): Row {
  const base = withChoices(option.description, option.choices);
  return [option.flags, option.defaultValue === undefined ? base : `${base} (default ${option.defaultValue})`];
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

/** Breaks at spaces; keeps the paragraphs somebody wrote. */
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

function isPrefix(path: readonly string[], words: readonly string[]): boolean {
  return path.every((word, index) => words[index] === word);
}
