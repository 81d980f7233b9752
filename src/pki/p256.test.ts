import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { p256Order, p256Point, p256Sign } from './p256.ts';

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));

// RFC 6979, appendix A.2.5: P-256 with SHA-256.
const scalar = bytes('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721');
const vectors = [
  {
    message: 'sample',
    r: 'efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716',
    s: 'f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8',
  },
  {
    message: 'test',
    r: 'f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367',
    s: '019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083',
  },
];

describe('ECDSA on P-256', () => {
  test.each(vectors)('signs $message as RFC 6979 does', ({ message, r, s }) => {
    expect(Buffer.from(p256Sign(scalar, Buffer.from(message))).toString('hex')).toBe(r + s);
  });

  test('the public point is the one of RFC 6979', () => {
    expect(Buffer.from(p256Point(scalar)).toString('hex')).toBe(
      '04' +
        '60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6' +
        '7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299',
    );
  });

  test('OpenSSL accepts every signature, and none over another message', () => {
    const scalars = fc.bigInt({ min: 1n, max: p256Order - 1n });
    fc.assert(
      fc.property(scalars, fc.uint8Array({ maxLength: 300 }), (value, message) => {
        const key = bytes(value.toString(16).padStart(64, '0'));
        const point = Buffer.from(p256Point(key));
        const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
        const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
        const signature = p256Sign(key, message);
        const options = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
        expect(verify('sha256', message, options, signature)).toBe(true);
        expect(verify('sha256', Buffer.concat([message, Buffer.of(0)]), options, signature)).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});
