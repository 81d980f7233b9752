// ECDSA on P-256 as a pure function: the nonce comes from the key and the message (RFC 6979), so that the same inputs give
// the same certificate, byte for byte, and a machine with little entropy on its first boot cannot leak a key.
// Points are multiplied by OpenSSL; only the last line of the signature is computed here, on blinded numbers.
import { createECDH, createHash, createHmac } from 'node:crypto';

/** The order of the group (SEC 2 §2.4.2). */
export const p256Order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The point that belongs to a scalar, uncompressed: 0x04 ‖ x ‖ y. */
export function p256Point(scalar: Uint8Array): Uint8Array {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(scalar);
  return new Uint8Array(curve.getPublicKey());
}

/** ECDSA with SHA-256 over `message`: r ‖ s, 32 bytes each. */
export function p256Sign(scalar: Uint8Array, message: Uint8Array): Uint8Array {
  const digest = createHash('sha256').update(message).digest();
  const secret = toNumber(scalar);
  const e = toNumber(digest) % p256Order;
  const numbers = nonces(scalar, toBytes(e));
  for (;;) {
    const nonce = numbers();
    const r = toNumber(p256Point(nonce).subarray(1, 33)) % p256Order;
    // BigInt arithmetic takes longer for some numbers than for others. `blind` is secret and new for every message, so
    // what could be measured says nothing about nonce or key.
    const blind = toNumber(numbers());
    const blindedSum = (blind * e + ((blind * r) % p256Order) * secret) % p256Order;
    const s = (inverse((blind * toNumber(nonce)) % p256Order) * blindedSum) % p256Order;
    if (r !== 0n && s !== 0n) return new Uint8Array([...toBytes(r), ...toBytes(s)]);
  }
}

/** The stream of candidate nonces of RFC 6979 §3.2, steps b to h. */
function nonces(scalar: Uint8Array, digest: Uint8Array): () => Uint8Array {
  let v: Uint8Array = new Uint8Array(32).fill(1);
  let k: Uint8Array = new Uint8Array(32);
  for (const separator of [0, 1]) {
    k = hmac(k, v, Uint8Array.of(separator), scalar, digest);
    v = hmac(k, v);
  }
  let first = true;
  return () => {
    for (;;) {
      if (!first) {
        k = hmac(k, v, Uint8Array.of(0));
        v = hmac(k, v);
      }
      first = false;
      v = hmac(k, v);
      const candidate = toNumber(v);
      if (candidate > 0n && candidate < p256Order) return v;
    }
  };
}

function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return new Uint8Array(mac.digest());
}

/** The inverse modulo the order, by Euclid. */
function inverse(value: bigint): bigint {
  let [low, high, x, y] = [value, p256Order, 1n, 0n];
  while (low !== 0n) {
    const quotient = high / low;
    [low, high, x, y] = [high - quotient * low, low, y - quotient * x, x];
  }
  return ((y % p256Order) + p256Order) % p256Order;
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function toBytes(value: bigint): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(64, '0'), 'hex'));
}
