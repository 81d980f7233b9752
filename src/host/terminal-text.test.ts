import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawnText, shownLine, shownText } from './terminal-text.ts';

const tricks: Readonly<Record<string, readonly [string, string]>> = {
  'a colour': ['\u001B[31mred\u001B[0m', '\\u001b[31mred\\u001b[0m'],
  'a cleared screen': ['\u001B[2J\u001B[H', '\\u001b[2J\\u001b[H'],
  'a title of the window': ['\u001B]0;owned\u0007', '\\u001b]0;owned\\u0007'],
  'a written clipboard': ['\u001B]52;c;cm0gLXJm\u0007', '\\u001b]52;c;cm0gLXJm\\u0007'],
  'the same by one byte (C1)': ['\u009B31m\u009D0;owned\u009C', '\\u009b31m\\u009d0;owned\\u009c'],
  'an overwritten line': ['all is well\rroot:', 'all is well\\rroot:'],
  'a deleted letter': ['ab\b\u007F', 'ab\\u0008\\u007f'],
  'text from right to left': [
    '\u202Egpj.exe\u202C \u2066x\u2069 \u200Ex\u200F',
    '\\u202egpj.exe\\u202c \\u2066x\\u2069 \\u200ex\\u200f',
  ],
  'letters that nobody sees': ['a\u200Bb\uFEFF\u{E0041}', 'a\\u200bb\\ufeff\\udb40\\udc41'],
  'lines that only some programs break': ['a\u2028b\u0085c', 'a\\u2028b\\u0085c'],
  'half a character': ['a\uD800b', 'a\\ud800b'],
};

test.each(Object.entries(tricks))('%s is shown, not obeyed', (_name, [text, shown]) => {
  expect(shownText(text)).toBe(shown);
  expect(shownLine(text)).toBe(shown);
});

test('lines, tabs and letters of every language stay as they are', () => {
  const text = 'one\n\ttwo ✓ ● é ñ 漢字 עברית 😀\n';
  expect(shownText(text)).toBe(text);
  expect(shownLine('a\n✓ b\tc')).toBe('a\\n✓ b\\tc');
});

test('JSON is the same value after it was shown, and nothing in it can be obeyed', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const shown = shownText(JSON.stringify(value, null, 2));
      expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(shown).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u);
    }),
  );
});

test('sequences are ours alone: the same characters in a text are shown', () => {
  expect(
    drawnText([{ up: 2 }, { color: 'green' }, '\u001B[31m', { color: 'none' }, { clear: 'to-line-end' }, '\n']),
  ).toBe('\u001B[2A\r\u001B[32m\\u001b[31m\u001B[0m\u001B[K\n');
  expect(drawnText([{ up: 0 }, { clear: 'to-screen-end' }])).toBe('\u001B[J');
});
