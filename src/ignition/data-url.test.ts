import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dataUrl, decodeDataUrl } from './data-url.ts';

const accepted: readonly (readonly [string, string])[] = [
  ['data:,', ''],
  ['data:;base64,', ''],
  ['data:,a+b', 'a+b'],
  ['data:,a?b=c', 'a?b=c'],
  ['data:,%68i%0A', 'hi\n'],
  ['data:text/plain;charset=utf-8;base64,aGVsbG8=', 'hello'],
  ['data:x-foo/bar,z', 'z'],
  ['data:textual/,z', 'z'],
  [String.raw`data:text/plain;a="q\"w;,",z`, 'z'],
  ['data:;a=%41;b=c,z', 'z'],
];

const refused = [
  'data:',
  'data:text/plain',
  'DATA:,x',
  'data:foo/bar,x',
  'data:bad,x',
  'data:;x,abc',
  'data:;=a,abc',
  'data:;a=,abc',
  'data:;base64;a=b,YQ==',
  'data:;base64,YQ',
  'data:;base64,YQ=',
  'data:;base64,_-==',
  'data:;base64,YQ==\n',
  'data:,{}',
  'data:,a#b',
  'data:,a b',
  'data:,é',
  'data:,%zz',
  'data:,a%2',
  'data:;a=%4,z',
  String.raw`data:text/plain;a="\q",z`,
  'data:text/plain;a="open,z',
];

test.each(accepted)('%s holds %j', (url, content) => {
  const decoded = decodeDataUrl(url);
  expect(decoded.status === 'decoded' && Buffer.from(decoded.url.bytes).toString()).toBe(content);
});

test.each(refused)('%j is refused with a reason', (url) => {
  const decoded = decodeDataUrl(url);
  expect(decoded.status === 'malformed' && decoded.reason).toBeTruthy();
});

test('what dataUrl writes, decodeDataUrl reads back, byte for byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const decoded = decodeDataUrl(dataUrl(bytes));
      expect(decoded.status === 'decoded' && Buffer.from(decoded.url.bytes).equals(bytes)).toBe(true);
    }),
  );
});

test('text is written as UTF-8 with its character set', () => {
  expect(dataUrl('grün')).toBe('data:text/plain;charset=utf-8;base64,Z3LDvG4=');
});
