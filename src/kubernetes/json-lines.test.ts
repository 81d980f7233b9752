import { expect, test } from 'vitest';
import { jsonLines } from './json-lines.ts';

test('values come out whole, wherever the bytes were cut, and a cut-off end is no value', async () => {
  const bytes = Buffer.from('{"a":"ä"}\n\n{"b":2}\n{"c":');
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks = (async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })();
    const values: unknown[] = [];
    for await (const value of jsonLines(chunks)) values.push(value);
    expect(values).toEqual([{ a: 'ä' }, { b: 2 }]);
  }
});
