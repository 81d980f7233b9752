import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sampleRandom } from '../../test/oracle/pki-sample.ts';
import { pkiErrors } from './errors.ts';
import { generateKeyPair, p256Order, p256Point, readKeyPair } from './key.ts';

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

test('the point of a scalar is the one of RFC 6979, appendix A.2.5', () => {
  const scalar = Buffer.from('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721', 'hex');
  expect(Buffer.from(p256Point(scalar)).toString('hex')).toBe(
    '04' +
      '60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6' +
      '7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299',
  );
});

test('a key pair is written as PKCS#8 and SubjectPublicKeyInfo', () => {
  const pair = generateKeyPair(sampleRandom('service-account'));
  expect(pair.privatePem.reveal()).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(pair.publicPem).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
});
