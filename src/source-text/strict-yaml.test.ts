import { describe, expect, test } from 'vitest';
import { mistakeLines } from './mistake.ts';
import { readStrictYaml } from './strict-yaml.ts';

const read = (text: string) =>
  readStrictYaml({ file: 'f', text, kind: 'a sample', exampleLine: 'name: x', secretWords: /password/ });
const lines = (text: string) => mistakeLines(read(text).mistakes);

describe('strict YAML', () => {
  test('gives the place of a value, of its key, and of the key above a field that is not written', () => {
    const { value, place, placeOfKey } = read('a:\n  b: 1\n  list: [x, y]\n');
    expect(value).toEqual({ a: { b: 1, list: ['x', 'y'] } });
    expect(place(['a', 'list', 1])).toEqual({ file: 'f', line: 3, column: 13 });
    expect(placeOfKey(['a', 'b'])).toEqual({ file: 'f', line: 2, column: 3 });
    expect(place(['a', 'missing'])).toEqual({ file: 'f', line: 1, column: 1 });
  });

  test.each([
    ['a second document', 'a: 1\n---\nb: 2\n', 'f:2:1 a second document begins here; a sample is one document'],
    ['an alias', 'a: &x 1\nb: *x\n', 'f:2:4 an alias; write the value out; allowed: plain values'],
    ['a field twice', 'a: 1\na: 2\n', 'f:2:1 a: the same field is written a second time'],
    ['a list', '- a\n', 'f:1:1 the file holds a list instead of fields; allowed: lines like "name: x"'],
  ])('refuses %s', (_what, text, line) => {
    expect(lines(text)).toContain(line);
  });

  test('repeats nothing of an unreadable file that may hold a secret', () => {
    const texts = (text: string) => read(text).mistakes.map((mistake) => mistake.text);
    expect(texts('a: "b\n')).not.toContain('[redacted]');
    expect(texts('password: "b\n')).toEqual(texts('password: "b\n').map(() => '[redacted]'));
  });
});
