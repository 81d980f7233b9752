import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { shownText } from '../../host/terminal-text.ts';
import { formatResult } from './print.ts';

const data = {
  message: 'not\u001B[2JReady\u009B31m',
  'key\u202E': 'a\u202Eb\n  second \u2066line',
  list: ['plain', 'NO', '\u0085', 3, true],
};

const readers = { json: (text: string): unknown => JSON.parse(text), yaml: (text: string): unknown => parse(text) };

test.each(['json', 'yaml'] as const)(
  '%s is the same value after its control characters became escapes',
  async (format) => {
    const shown = shownText(await formatResult({ data, text: '' }, format));
    expect(readers[format](shown)).toEqual(data);
    expect(shown).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u);
  },
);

test('yaml without control characters is written as people write it', async () => {
  expect(await formatResult({ data: { a: 'x y' }, text: '' }, 'yaml')).toBe('a: x y\n');
});
