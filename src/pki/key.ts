// EC P-256 key pairs as values: the private half wrapped in Secret, both halves as the PEM that OpenSSL and Go read.
// Made from Random.bytes alone, so that a seeded run makes the same keys again. P-256 is the only curve: every consumer
// accepts it. A key of another kind in one of our files means that the file was exchanged.
import { createECDH, createPrivateKey, hash, type KeyObject, sign } from 'node:crypto';
import type { Random } from '../host/random.ts';
import { Secret } from '../host/secret.ts';
import { pkiErrors } from './errors.ts';
import { pemBlocks, pemOf } from './pem.ts';

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
  const { d = '' } = key.export({ format: 'jwk' });
  return keyPairOf(Buffer.from(d, 'base64url'));
}

/** DER of the public half: what a certificate carries. */
export function publicKeyDer(publicPem: string): Uint8Array {
  const [block] = pemBlocks(publicPem) ?? [];
  if (block?.label !== 'PUBLIC KEY') throw new Error('not the PEM of a public key');
  return block.der;
}

/** SHA-256 of the public half, in hex: the same for every request and certificate of one key. */
export function publicKeyDigest(publicPem: string): string {
  return hash('sha256', publicKeyDer(publicPem), 'hex');
}

/** The signature of `message` (ECDSA, SHA-256) in DER, as certificates and requests carry it. Made by OpenSSL. */
export function signWith(key: KeyPair, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign('sha256', message, key.privatePem.reveal()));
}

/** The order of the group of P-256 (SEC 2 §2.4.2). */
export const p256Order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The point of P-256 that belongs to a scalar, uncompressed: 0x04 ‖ x ‖ y. */
export function p256Point(scalar: Uint8Array): Uint8Array {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(scalar);
  return new Uint8Array(curve.getPublicKey());
}

// For one curve, both encodings (RFC 5208 around RFC 5915; RFC 5480) are constants around scalar and point.
const curve = '301306072a8648ce3d020106082a8648ce3d030107';
const publicPrefix = Buffer.from(`3059${curve}034200`, 'hex');
const privatePrefix = Buffer.from(`308187020100${curve}046d306b0201010420`, 'hex');
const privateMiddle = Buffer.from('a144034200', 'hex');

function keyPairOf(scalar: Uint8Array): KeyPair {
  const point = p256Point(scalar);
  return {
    privatePem: new Secret(pemOf('PRIVATE KEY', Buffer.concat([privatePrefix, scalar, privateMiddle, point]))),
    publicPem: pemOf('PUBLIC KEY', Buffer.concat([publicPrefix, point])),
  };
}
