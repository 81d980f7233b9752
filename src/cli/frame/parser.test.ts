import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  argument,
  argumentList,
  choiceArgument,
  choiceOf,
  flag,
  option,
  optionalArgument,
  optionWithDefault,
  portNumber,
  positiveInteger,
  repeatableOption,
  text,
} from './option.ts';
import { parseCall } from './parser.ts';
import { defineVerb, type VerbTable } from './verb.ts';

const logs = defineVerb({
  args: { machine: argument('its name'), units: argumentList('some units') },
  options: {
    follow: flag('-f, --follow', 'go on'),
    wait: flag('--no-wait', 'return at once'),
    lines: optionWithDefault('-n, --lines <count>', 'how many', positiveInteger, 1000),
    since: option('--since <time>', 'from then on', text),
    format: optionWithDefault('--format <format>', 'how', choiceOf(['short', 'json']), 'short'),
    port: repeatableOption('--port <port>', 'a port', portNumber),
  },
  examples: [],
  run: async ({ args, options }) => {
    expectTypeOf(args).toEqualTypeOf<{ readonly machine: string; readonly units: readonly string[] }>();
    expectTypeOf(options).toEqualTypeOf<{
      readonly follow: boolean;
      readonly wait: boolean;
      readonly lines: number;
      readonly since: string | undefined;
      readonly format: 'short' | 'json';
      readonly port: readonly number[];
    }>();
    // A misspelt name is no key of the options, so `options.foloow` does not compile.
    expectTypeOf<'foloow'>().not.toMatchTypeOf<keyof typeof options>();
    return { data: { args, options }, text: '' };
  },
});

const plain = defineVerb({
  examples: [],
  run: async ({ args, options }) => {
    expectTypeOf<keyof typeof args>().toBeNever();
    expectTypeOf<keyof typeof options>().toBeNever();
    return { data: null, text: '' };
  },
});

const passing = defineVerb({ passesThrough: true, examples: [], run: async () => ({ data: null, text: '' }) });

const shell = defineVerb({
  args: { shell: choiceArgument('yours', choiceOf(['bash', 'fish'])), more: optionalArgument('more') },
  examples: [],
  run: async ({ args }) => {
    expectTypeOf(args).toEqualTypeOf<{ readonly shell: 'bash' | 'fish'; readonly more: string | undefined }>();
    return { data: null, text: '' };
  },
});

const table: VerbTable = {
  groups: { machine: 'Machines.' },
  rows: [
    { words: 'machine logs', summary: 'Show logs.', load: async () => logs },
    { words: 'machine list', summary: 'List machines.', load: async () => plain },
    { words: 'kubectl', summary: 'Run kubectl.', load: async () => passing },
    { words: 'completion', summary: 'Print a script.', load: async () => shell },
    { words: 'secret', summary: 'For units.', isHidden: true, load: async () => plain },
  ],
};

const parse = (line: string) => parseCall(line.split(' '), table);

describe('the parser', () => {
  test('fills in the defaults that the options declare', async () => {
    const { options, global } = await parse('machine logs a u');
    expect(options).toEqual({
      follow: false,
      wait: true,
      lines: 1000,
      since: undefined,
      format: 'short',
      port: [],
    });
    expect(global).toEqual({ dir: 'cluster', output: 'text', logLevel: 'info' });
  });

  test('reads every value as the kind that its option declares', async () => {
    const line = 'machine logs a u v -f --no-wait -n 5 --since now --format json --port 1 --port 2';
    expect(await parse(line)).toMatchObject({
      args: { machine: 'a', units: ['u', 'v'] },
      options: { follow: true, wait: false, lines: 5, since: 'now', format: 'json', port: [1, 2] },
    });
  });

  test.each([
    ['machine logs a u --lines many', "option '-n, --lines <count>' argument 'many' is invalid"],
    ['machine logs a u --lines 0', 'It must be a whole number above 0.'],
    ['machine logs a u --port 1 --port 70000', 'It must be a port, 0 to 65535.'],
    ['machine logs a u --format xml', 'Allowed choices are short, json.'],
    ['machine logs a', "missing required argument 'units'"],
    ['machine logs a u --foloow', "unknown option '--foloow' (Did you mean --follow?)"],
    ['machine list extra', 'too many arguments'],
    ['completion tcsh', 'Allowed choices are bash, fish.'],
  ])('%s is a usage error of its verb', async (line, reason) => {
    const error = await parse(line).catch((caught: unknown) => caught as Error);
    expect(error).toMatchObject({ code: 'CLI_USAGE', exit: 2 });
    expect((error as Error).message).toContain(reason);
    expect((error as Error).message).toMatch(/^firstlight (machine logs|machine list|completion): /);
  });

  test('finds the verb behind global options and their values', async () => {
    expect(await parse('--dir machine -o json machine list')).toMatchObject({
      verb: plain,
      global: { dir: 'machine', output: 'json' },
    });
    expect(await parse('--dir a machine list --dir b')).toMatchObject({ global: { dir: 'b' } });
  });

  test('passes everything after the words on, where a verb wants that', async () => {
    expect(await parse('kubectl --dir lab get nodes -o wide --dir x')).toMatchObject({
      global: { dir: 'lab', output: 'text' },
      passedOn: ['get', 'nodes', '-o', 'wide', '--dir', 'x'],
    });
  });

  test('suggests the nearest verb, and never a hidden one', async () => {
    await expect(parse('machine lost')).rejects.toMatchObject({ code: 'CLI_UNKNOWN_COMMAND' });
    await expect(parse('machine lost')).rejects.toThrow('did you mean machine list?');
    await expect(parse('secrte')).rejects.toMatchObject({ message: 'secrte is not a command' });
  });
});
