import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bitStringOf, DerError, integerOf, oidOf, readDer, sequenceOf } from './der.ts';

const der = (hex: string) => readDer(new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex')));

/** What was read; the input itself when it was refused. Any other failure rises. */
function rawOrRefusal(bytes: Uint8Array): Uint8Array {
  try {
    return readDer(bytes).raw;
  } catch (error) {
    if (error instanceof DerError) return bytes;
    throw error;
  }
}

describe('the DER reader', () => {
  test('reads a sequence of its parts', () => {
    const [first, second] = sequenceOf(der('30 08 02 01 05 06 03 55 04 03'), 'pair');
    expect(integerOf(first, 'number')).toBe(5n);
    expect(oidOf(second, 'oid')).toBe('2.5.4.3');
  });

  test.each([
    ['trailing bytes', '02 01 05 00', 'bytes too many'],
    ['an indefinite length', '30 80 00 00', 'indefinite'],
    ['a length in more octets than it needs', '02 81 01 05', 'padded'],
    ['a two-octet length that fits one', '04 82 00 80', 'cut off|padded'],
    ['a value shorter than its length', '02 05 01', 'cut off'],
    ['a missing length', '02', 'cut off'],
    ['a high tag number', '1f 81 01 00', 'tag number'],
  ])('refuses %s', (_what, hex, reason) => {
    expect(() => der(hex)).toThrow(new RegExp(reason));
  });

  test.each([
    ['a negative integer', () => integerOf(der('02 01 ff'), 'it')],
    ['a padded integer', () => integerOf(der('02 02 00 05'), 'it')],
    ['an object identifier with a padded arc', () => oidOf(der('06 03 55 80 03'), 'it')],
    ['an object identifier that is cut off', () => oidOf(der('06 02 55 84'), 'it')],
    ['bits outside the count of a bit string', () => bitStringOf(der('03 02 07 ff'), 'it')],
  ])('refuses %s', (_what, read) => {
    expect(read).toThrow(DerError);
  });

  test('reads big arcs', () => {
    expect(oidOf(der('06 09 2a 86 48 86 f7 0d 01 09 0e'), 'it')).toBe('1.2.840.113549.1.9.14');
  });

  test('answers any bytes with a value or a DerError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(rawOrRefusal(bytes)).toEqual(bytes);
      }),
      { numRuns: 2000 },
    );
  });
});
