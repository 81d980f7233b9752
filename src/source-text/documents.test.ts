import { describe, expect, test } from 'vitest';
import { documentLimitBytes, readDocuments } from './documents.ts';
import { mistakeText } from './mistake.ts';
import { placeText } from './place.ts';

describe('a file with several documents', () => {
  test('gives each value its place in the file, in YAML and in JSON', () => {
    const text = 'a: {b: [1, 2]}\n---\n{"a": {"b": [1,\n  2]}}\n---\n# nothing\n';
    const { documents, mistakes } = readDocuments('f.yaml', text);
    expect(mistakes).toEqual([]);
    expect(documents.map(({ value }) => value)).toEqual([{ a: { b: [1, 2] } }, { a: { b: [1, 2] } }]);
    const places = documents.flatMap(({ placeOf }) => [placeOf(['a', 'b', 1]), placeOf(['a', 'x']), placeOf([])]);
    expect(places.map(placeText)).toEqual([
      'f.yaml:1:12',
      'f.yaml:1:4',
      'f.yaml:1:1',
      'f.yaml:4:3',
      'f.yaml:3:7',
      'f.yaml:3:1',
    ]);
  });

  test('loses only its broken documents', () => {
    const { documents, mistakes } = readDocuments('f.yaml', 'a: [1\n---\nb: 2\n');
    expect(documents.map(({ value }) => value)).toEqual([{ b: 2 }]);
    expect(mistakes.map(mistakeText)[0]).toMatch(/^f\.yaml:\d+:\d+ {2}not YAML: /);
  });

  test('does not parse a document that is larger than any object of the API', () => {
    const { mistakes } = readDocuments('f.yaml', `a: 1\n---\nb: ${'x'.repeat(documentLimitBytes)}\n`);
    expect(mistakes.map(mistakeText)).toEqual([
      'f.yaml:3:1  this document has 4.0 MB; an object of the API has at most 1.5 MB',
    ]);
  });
});
