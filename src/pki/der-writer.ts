// Writes DER (X.690), the few types that certificates and requests need: each function gives the octets of one value.
// The strict reader of der.ts accepts everything that is written here.
import { derTags } from './der.ts';

export function tlv(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => tlv(derTags.sequence, ...parts);
export const set = (...parts: readonly Uint8Array[]): Uint8Array => tlv(derTags.set, ...parts);
export const octetString = (content: Uint8Array): Uint8Array => tlv(derTags.octetString, content);
export const utf8String = (text: string): Uint8Array => tlv(derTags.utf8String, Buffer.from(text, 'utf8'));
export const booleanTrue: Uint8Array = tlv(derTags.boolean, Buffer.of(0xff));

/** A non-negative INTEGER from its big-endian octets. */
export function integer(bigEndian: Uint8Array): Uint8Array {
  const start = bigEndian.findIndex((octet) => octet !== 0);
  const digits = start === -1 ? Buffer.of(0) : bigEndian.subarray(start);
  const sign = ((digits[0] ?? 0) & 0x80) === 0 ? Buffer.alloc(0) : Buffer.of(0);
  return tlv(derTags.integer, sign, digits);
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Uint8Array {
  return tlv(derTags.bitString, Buffer.of(unusedBits), bytes);
}

/** A BIT STRING whose bits have names: zeros at the end are left out (X.690 §11.2.2). */
export function namedBits(bits: readonly number[]): Uint8Array {
  const last = Math.max(...bits);
  const bytes = new Uint8Array((last >> 3) + 1);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return bitString(bytes, 7 - (last & 7));
}

export function oid(text: string): Uint8Array {
  const [root = 0, second = 0, ...rest] = text.split('.').map(Number);
  return tlv(derTags.oid, Buffer.from([root * 40 + second, ...rest].flatMap(base128)));
}

/** UTCTime until 2049, GeneralizedTime after (RFC 5280 §4.1.2.5). */
export function time(date: Date): Uint8Array {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  const isLate = date.getUTCFullYear() > 2049;
  return tlv(isLate ? derTags.generalizedTime : derTags.utcTime, Buffer.from(isLate ? digits : digits.slice(2)));
}

function base128(arc: number): number[] {
  const octets = [arc & 0x7f];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) octets.unshift((rest & 0x7f) | 0x80);
  return octets;
}

function lengthOf(length: number): Uint8Array {
  if (length < 0x80) return Buffer.of(length);
  const octets = Buffer.from(length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.of(0x80 | octets.length), octets]);
}
