import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonNode } from './json.ts';
import { jsonOffsets, readJsonWithPlaces } from './json.ts';

function valueOf(node: JsonNode): unknown {
  if (node.kind === 'object') {
    // defineProperty, because __proto__ is an ordinary key in JSON.
    const result = {};
    for (const { key, value } of node.entries) {
      Object.defineProperty(result, key, {
        value: valueOf(value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return result;
  }
  if (node.kind === 'array') return node.items.map(valueOf);
  if (node.kind === 'number') return Number(node.spelling);
  return node.kind === 'null' ? null : node.value;
}

test('every JSON document means what JSON.parse says it means', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const read = readJsonWithPlaces(text);
      expect(read.status === 'read' && valueOf(read.root)).toEqual(JSON.parse(text));
    }),
  );
});

test('what JSON.parse refuses is refused, and nothing else', () => {
  const letters = [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    'u00e9',
    'n',
    '1',
    '-',
    '.',
    'e',
    '0',
    'true',
    'null',
    ' ',
    '\n',
    '\u0001',
  ];
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...letters), maxLength: 12 }), (text) => {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      expect(readJsonWithPlaces(text).status).toBe(isJson ? 'read' : 'malformed');
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  ['{"a":1,}', 7, 'instead of a key'],
  ['{"a" 1}', 5, 'instead of ":"'],
  ['[1 2]', 3, 'instead of "," or "]"'],
  ['{"a":"\\x"}', 6, 'unknown escape'],
  ['{"a":"b', 5, 'no closing quote'],
  ['{} x', 3, 'after the end'],
  ['', 0, 'the text ends'],
])('%j is refused at offset %d: %s', (text, offset, reason) => {
  const read = readJsonWithPlaces(text);
  expect(read).toMatchObject({ status: 'malformed', offset });
  expect(read.status === 'malformed' && read.reason).toContain(reason);
});

test('repeated keys, spellings of numbers and starting points are kept', () => {
  expect(readJsonWithPlaces('{"a":1.0,"a":-0}')).toEqual({
    status: 'read',
    root: {
      kind: 'object',
      start: 0,
      entries: [
        { key: 'a', keyStart: 1, value: { kind: 'number', start: 5, spelling: '1.0' } },
        { key: 'a', keyStart: 9, value: { kind: 'number', start: 13, spelling: '-0' } },
      ],
    },
  });
});

test('nesting beyond ten thousand levels is refused, not followed', () => {
  expect(readJsonWithPlaces('['.repeat(1_000_000))).toMatchObject({ status: 'malformed', offset: 10_000 });
});

test('a path leads to its value, or to the innermost value around it that is written', () => {
  const text = '{"a": [1, {"b": 2}], "a": [3, {"b": 4}]}';
  const read = readJsonWithPlaces(text);
  if (read.status !== 'read') throw new Error(read.reason);
  const offsetOf = jsonOffsets(read.root);
  expect(offsetOf(['a', 1, 'b'])).toBe(text.indexOf('4'));
  expect(offsetOf(['a', 1, 'c'])).toBe(text.lastIndexOf('{'));
  expect(offsetOf(['x'])).toBe(0);
});
