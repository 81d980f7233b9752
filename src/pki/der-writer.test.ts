import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bitStringOf, integerOf, oidOf, readDer } from './der.ts';
import { bitString, integer, namedBits, octetString, oid, time } from './der-writer.ts';

describe('what the DER writer writes, the strict reader reads back:', () => {
  test('values of any length, with the shortest length octets', () => {
    for (const size of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
      expect(readDer(octetString(new Uint8Array(size))).content).toHaveLength(size);
    }
  });

  test('integers, whatever zeros stand before them', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
        const octets = Buffer.from(value.toString(16).padStart(66, '0'), 'hex');
        expect(integerOf(readDer(integer(octets)), 'it')).toBe(value);
      }),
    );
  });

  test('object identifiers', () => {
    const arcs = fc.array(fc.nat(), { maxLength: 8 }).map((rest) => ['1', '3', ...rest].join('.'));
    fc.assert(
      fc.property(arcs, (text) => {
        expect(oidOf(readDer(oid(text)), 'it')).toBe(text);
      }),
    );
  });

  test('times to the second, on both sides of 2050', () => {
    const seconds = fc.integer({ min: Date.UTC(1951) / 1000, max: Date.UTC(9999) / 1000 });
    fc.assert(
      fc.property(seconds, (second) => {
        const date = new Date(second * 1000);
        const { tag, content } = readDer(time(date));
        const [isLate, text] = [date.getUTCFullYear() >= 2050, Buffer.from(content).toString('latin1')];
        expect(tag).toBe(isLate ? 0x18 : 0x17);
        expect(isLate ? text : `${date.getUTCFullYear() < 2000 ? 19 : 20}${text}`).toBe(
          `${date.toISOString().slice(0, 19).replaceAll(/[-T:]/g, '')}Z`,
        );
      }),
    );
  });

  test('bits', () => {
    expect(bitStringOf(readDer(bitString(Buffer.of(0xa5))), 'it').bits).toBe(8);
    expect(bitStringOf(readDer(namedBits([0, 8])), 'it')).toEqual({ bytes: Buffer.of(0x80, 0x80), bits: 9 });
  });
});
