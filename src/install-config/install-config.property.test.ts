// Random install-configs, whole and broken. FIRSTLIGHT_LONG=1 runs twenty times as many.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { architecture, installConfigs } from '../../test/arbitrary/install-config.ts';
import { isError } from '../errors/firstlight-error.ts';
import { installConfigErrors } from './errors.ts';
import type { ConfigMistake } from './mistake.ts';
import { parseInstallConfig } from './parse.ts';
import { renderInstallConfig } from './render.ts';

const isLong = process.env['FIRSTLIGHT_LONG'] === '1';
const numRuns = isLong ? 10_000 : 500;
const options = { file: 'install-config.yaml', architecture };

/** A valid config or mistakes come of any text; these are the mistakes that a person could not act on. */
function uselessMistakes(text: string): readonly ConfigMistake[] {
  const { mistakes, warnings } = verdict(text);
  const lines = text.split('\n').length;
  const isUsable = (mistake: ConfigMistake): boolean =>
    mistake.line >= 1 && mistake.line <= lines + 1 && mistake.column >= 1 && /^[^\p{Cc}]+$/u.test(mistake.message);
  return [...mistakes, ...warnings].filter((mistake) => !isUsable(mistake));
}

function verdict(text: string): {
  readonly mistakes: readonly ConfigMistake[];
  readonly warnings: readonly ConfigMistake[];
} {
  try {
    return { mistakes: [], warnings: parseInstallConfig(text, options).warnings };
  } catch (error) {
    if (!isError(error, installConfigErrors.MISTAKES)) throw error;
    const mistakes = error.details.mistakes;
    if (mistakes.length === 0) throw new Error('refused without a mistake', { cause: error });
    return { mistakes, warnings: [] };
  }
}

/** A random place inside a JSON value, and something else put there. */
const edits = fc.record({
  steps: fc.array(fc.nat(), { maxLength: 6 }),
  key: fc.oneof(fc.constantFrom('name', 'cidr', 'replicas', 'platform', '__proto__', ''), fc.string()),
  value: fc.jsonValue({ maxDepth: 2 }),
});

function edited(
  value: unknown,
  steps: readonly number[],
  edit: { readonly key: string; readonly value: unknown },
): unknown {
  const [step, ...rest] = steps;
  if (typeof value !== 'object' || value === null || step === undefined) return edit.value;
  if (Array.isArray(value)) {
    const at = step % (value.length + 1);
    return [...value.slice(0, at), edited(value[at], rest, edit), ...value.slice(at + 1)];
  }
  const entries = Object.entries(value);
  const at = step % (entries.length + 1);
  const [name, inner] = entries[at] ?? [edit.key, undefined];
  return Object.fromEntries([...entries, [name, edited(inner, rest, edit)]]);
}

describe('random install-configs', { timeout: isLong ? 900_000 : 60_000 }, () => {
  test('one that keeps the rules is accepted, and read back the same after rendering', () => {
    fc.assert(
      fc.property(installConfigs, (input) => {
        const { config } = parseInstallConfig(JSON.stringify(input), options);
        const text = renderInstallConfig(input, architecture);
        expect(JSON.stringify(parseInstallConfig(text, options).config)).toBe(JSON.stringify(config));
        expect(JSON.stringify(parseYaml(text, { version: '1.1' }))).toBe(JSON.stringify(input));
      }),
      { numRuns },
    );
  });

  test('one with a value exchanged never crashes the reader', () => {
    fc.assert(
      fc.property(installConfigs, fc.array(edits, { minLength: 1, maxLength: 3 }), (input, list) => {
        const broken = list.reduce<unknown>((value, { steps, ...edit }) => edited(value, steps, edit), input);
        expect(uselessMistakes(JSON.stringify(broken) ?? '')).toEqual([]);
      }),
      { numRuns },
    );
  });

  test('one with text cut, moved or put in never crashes the reader', () => {
    const cuts = fc.record({ at: fc.nat(), length: fc.nat({ max: 20 }), put: fc.oneof(yamlText, fc.string()) });
    fc.assert(
      fc.property(installConfigs, cuts, (input, { at, length, put }) => {
        const text = renderInstallConfig(input, architecture);
        const from = at % (text.length + 1);
        expect(uselessMistakes(text.slice(0, from) + put + text.slice(from + length))).toEqual([]);
      }),
      { numRuns },
    );
  });

  test('text of any kind never crashes the reader', () => {
    const anything = fc.oneof(yamlText, fc.string({ unit: 'binary' }), fc.string());
    fc.assert(
      fc.property(anything, (text) => {
        expect(uselessMistakes(text)).toEqual([]);
      }),
      { numRuns },
    );
  });

  test('a broken file never repeats the secret in it', () => {
    // Broken anywhere around the secrets: a piece from the middle of one can no longer be known for what it is.
    const [before, url, between, json, after] = [
      'proxy:\n  httpProxy: ',
      'http://u:hunter2@x.test',
      '\npullSecret: |\n  ',
      '{"auths":{"r":{"auth":"hunter2"}}}',
      '\n',
    ];
    const broken = (text: string) =>
      fc.oneof(
        fc.constant(text),
        fc.tuple(fc.nat(text.length), yamlText).map(([at, put]) => text.slice(0, at) + put + text.slice(at)),
      );
    const texts = fc.tuple(broken(before), broken(between), broken(after));
    fc.assert(
      fc.property(texts, ([first, second, third]) => {
        const { mistakes } = verdict(first + url + second + json + third);
        expect(JSON.stringify(mistakes)).not.toContain('hunter2');
      }),
      { numRuns },
    );
  });
});

/** Pieces of YAML in any order: what a grammar-aware fuzzer would try first. */
const yamlText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '- ',
        ': ',
        ':\n',
        '\n',
        '\n  ',
        '\t',
        '[',
        ']',
        '{',
        '}',
        ',',
        '&a ',
        '*a',
        '!!str ',
        '!x ',
        '| ',
        '>-\n',
      ),
      fc.constantFrom(
        '"',
        "'",
        '? ',
        '---\n',
        '...\n',
        '%YAML 1.1\n',
        '# ',
        '<<: ',
        '0644',
        '0o17',
        '.nan',
        '~',
        '\u0000',
        '\uFEFF',
      ),
      fc.constantFrom(
        'metadata',
        'name',
        'networking',
        'serviceNetwork',
        'hosts',
        'replicas',
        'platform',
        'none',
        '__proto__',
      ),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));
