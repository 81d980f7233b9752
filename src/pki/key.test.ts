import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sampleRandom } from '../../test/oracle/pki-sample.ts';
import { pkiErrors } from './errors.ts';
import { generateKeyPair, readKeyPair } from './key.ts';
import { p256Order } from './p256.ts';

describe('a key pair', () => {
  test('is replayed by the same seed and differs for another', () => {
    const [a, b, c] = ['one', 'one', 'two'].map((seed) => generateKeyPair(sampleRandom(seed)).privatePem.reveal());
    expect(a).toBe(b);
    expect(a).not.toBe(c);
  });

  test('survives being written and read', () => {
    const pair = generateKeyPair(sampleRandom('written'));
    const read = readKeyPair(pair.privatePem.reveal());
    expect(read.publicPem).toBe(pair.publicPem);
    expect(read.privatePem.reveal()).toBe(pair.privatePem.reveal());
  });

  test('is written as OpenSSL would write it', () => {
    const pair = generateKeyPair(sampleRandom('format'));
    const theirs = createPrivateKey(pair.privatePem.reveal());
    expect(theirs.export({ type: 'pkcs8', format: 'pem' })).toBe(pair.privatePem.reveal());
    expect(createPublicKey(theirs).export({ type: 'spki', format: 'pem' })).toBe(pair.publicPem);
  });

  test('with a small scalar keeps its leading zeros', () => {
    const small = new Uint8Array(32);
    small[31] = 7;
    const pair = generateKeyPair({ bytes: () => small });
    expect(readKeyPair(pair.privatePem).privatePem.reveal()).toBe(pair.privatePem.reveal());
  });

  test('is read from the older EC PRIVATE KEY form as well', () => {
    const pair = generateKeyPair(sampleRandom('sec1'));
    const sec1 = createPrivateKey(pair.privatePem.reveal()).export({ type: 'sec1', format: 'pem' }).toString();
    expect(readKeyPair(sec1).publicPem).toBe(pair.publicPem);
  });

  test('rejects scalars outside the group and draws again', () => {
    const order = Buffer.from(p256Order.toString(16), 'hex');
    const draws = [Buffer.alloc(32), order, Buffer.alloc(32, 0xff), Buffer.alloc(32, 1)];
    const pair = generateKeyPair({ bytes: () => new Uint8Array(draws.shift()!) });
    const { d } = createPrivateKey(pair.privatePem.reveal()).export({ format: 'jwk' });
    expect(Buffer.from(d!, 'base64url')).toEqual(Buffer.alloc(32, 1));
    expect(draws).toHaveLength(0);
  });

  test('does not show its private half', () => {
    const pair = generateKeyPair(sampleRandom('shown'));
    expect(inspect(pair) + JSON.stringify(pair)).not.toContain('PRIVATE');
  });

  test.each([
    ['an empty file', ''],
    ['half a key', generateKeyPair(sampleRandom('half')).privatePem.reveal().slice(0, 90)],
    [
      'an RSA key',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ],
    [
      'another curve',
      generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ],
  ])('is not read from %s', (_what, pem) => {
    expect(() => readKeyPair(pem.toString())).toThrow(expect.objectContaining({ code: pkiErrors.KEY_UNREADABLE.code }));
  });
});
