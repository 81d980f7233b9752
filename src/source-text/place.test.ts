import { expect, test } from 'vitest';
import { placeText, positionsIn } from './place.ts';

test('an offset has a line and a column, in whatever order it is asked for', () => {
  const text = '{\n  "ä😀": 1\n}';
  const positionOf = positionsIn(text);
  const one = text.indexOf('1');
  const end = text.indexOf('}');
  expect(positionOf(one)).toEqual({ line: 2, column: 9 });
  expect(positionOf(end)).toEqual({ line: 3, column: 1 });
  expect(positionOf(0)).toEqual({ line: 1, column: 1 });
  expect(positionOf(one)).toEqual({ line: 2, column: 9 });
});

test('a place is written as editors and terminals understand it', () => {
  expect(placeText({ file: 'install-config.yaml', line: 5, column: 1 })).toBe('install-config.yaml:5:1');
});

test('an offset before the text is its start', () => {
  expect(positionsIn('a')(-1)).toEqual({ line: 1, column: 1 });
});
