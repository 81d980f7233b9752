import { describe, expect, test } from 'vitest';
import { requestedHelp } from './help.ts';
import { argumentList, choiceOf, flag, optionalArgument, optionWithDefault } from './option.ts';
import { defineVerb, type VerbTable } from './verb.ts';

const show = defineVerb({
  description: 'Shows some things of this pool, each with the name of the file that it is from, in a long sentence.',
  args: { pools: argumentList('some pools'), name: optionalArgument('a name') },
  options: {
    all: flag('-a, --all', 'everything'),
    format: optionWithDefault('--format <format>', 'the language', choiceOf(['dot', 'mermaid']), 'dot'),
  },
  examples: ['firstlight pool show a'],
  run: async () => ({ data: null, text: '' }),
});
const passing = defineVerb({ passesThrough: true, examples: [], run: async () => ({ data: null, text: '' }) });
const unused = async (): Promise<never> => Promise.reject(new Error('help needs no other verb'));

const table: VerbTable = {
  groups: { pool: 'Pools and what they hold.' },
  rows: [
    { words: 'pool show', summary: 'Show a pool.', load: async () => show },
    { words: 'pool list', summary: 'List the pools.', load: unused },
    { words: 'pool prepare', summary: 'For units.', isHidden: true, load: unused },
    { words: 'kubectl', summary: 'Run kubectl.', load: async () => passing },
  ],
};

const help = (line: string) => requestedHelp(line === '' ? [] : line.split(' '), table, 60);

describe('help', () => {
  test('of everything lists the verbs that are not hidden, and loads none of them', async () => {
    expect(await help('')).toBe(await help('--help'));
    expect(await help('')).toContain(
      '  pool show  Show a pool.\n  pool list  List the pools.\n  kubectl    Run kubectl.\n',
    );
    expect(await help('')).not.toContain('prepare');
  });

  test('of a group lists its verbs under its summary', async () => {
    expect(await help('pool -h')).toBe(`Pools and what they hold.

Usage: firstlight pool <command> [options]

Commands:
  pool show  Show a pool.
  pool list  List the pools.
`);
  });

  test('of a verb shows what its value declares', async () => {
    const text = await help('pool show --help');
    expect(text).toContain('Usage: firstlight pool show <pools...> [name] [options]\n');
    expect(text).toContain('\n  -a, --all          everything\n');
    expect(text).toContain('the language: dot, mermaid (default\n                     dot)\n');
    expect(text).toContain('Examples:\n  firstlight pool show a\n');
    expect(text).toContain('  --dir <folder>');
  });

  test('is not ours where a verb passes its words on, unless it is asked for with help', async () => {
    expect(await help('kubectl get --help')).toBeUndefined();
    expect(await help('help kubectl --help')).toContain('Usage: firstlight kubectl …\n');
  });

  test('is not given without --help, for unknown words, or after --', async () => {
    expect(await help('pool show')).toBeUndefined();
    expect(await help('pol --help')).toBeUndefined();
    expect(await help('pool show -- --help')).toBeUndefined();
  });
});
