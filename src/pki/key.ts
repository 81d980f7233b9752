// EC P-256 key pairs as values: the private half wrapped in Secret, both halves as the PEM that OpenSSL and Go read.
// Made from Random.bytes alone, so a seeded run replays its keys. P-256 is the only curve: every consumer accepts it, and
// a key of another kind in one of our files means that somebody exchanged the file.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Random } from '../host/random.ts';
import { Secret } from '../host/secret.ts';
import { pkiErrors } from './errors.ts';
import { p256Order, p256Point, p256Sign } from './p256.ts';

export interface KeyPair {
  /** PKCS#8, `BEGIN PRIVATE KEY`. */
  readonly privatePem: Secret;
  /** SubjectPublicKeyInfo, `BEGIN PUBLIC KEY`. */
  readonly publicPem: string;
}

export function generateKeyPair(random: Random): KeyPair {
  for (;;) {
    const scalar = random.bytes(32);
    const value = BigInt(`0x${Buffer.from(scalar).toString('hex')}`);
    if (value > 0n && value < p256Order) return keyPairOf(scalar);
  }
}

/** Reads a private key that we wrote, or that OpenSSL wrote as PKCS#8 or SEC 1. Throws PKI_KEY_UNREADABLE. */
export function readKeyPair(pem: Secret | string): KeyPair {
  let key: KeyObject;
  try {
    key = createPrivateKey(typeof pem === 'string' ? pem : pem.reveal());
  } catch (cause) {
    throw pkiErrors.KEY_UNREADABLE({ reason: 'it is not an unencrypted PEM private key' }, { cause });
  }
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (curve !== 'prime256v1') {
    throw pkiErrors.KEY_UNREADABLE({ reason: `it is ${key.asymmetricKeyType} ${curve ?? ''}, not EC P-256`.trim() });
  }
  return keyPairFrom(key);
}

/** DER of the public half: what a certificate carries. */
export function publicKeyDer(publicPem: string): Uint8Array {
  return new Uint8Array(createPublicKey(publicPem).export({ type: 'spki', format: 'der' }));
}

/** The signature of `message` (ECDSA, SHA-256) as r ‖ s. */
export function signWith(key: KeyPair, message: Uint8Array): Uint8Array {
  const { d } = createPrivateKey(key.privatePem.reveal()).export({ format: 'jwk' });
  if (d === undefined) throw new Error('a private key without its scalar');
  return p256Sign(Buffer.from(d, 'base64url'), message);
}

function keyPairOf(scalar: Uint8Array): KeyPair {
  const point = Buffer.from(p256Point(scalar));
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: Buffer.from(scalar).toString('base64url'),
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  return keyPairFrom(createPrivateKey({ key: jwk, format: 'jwk' }));
}

function keyPairFrom(key: KeyObject): KeyPair {
  return {
    privatePem: new Secret(key.export({ type: 'pkcs8', format: 'pem' }).toString()),
    publicPem: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
  };
}
