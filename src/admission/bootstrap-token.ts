// The form of a single-use token: that of a Kubernetes bootstrap token, `id.secret`. The id is public (it is the name
// of the user that the token authenticates), the secret is not; servers compare digests.
import { hash } from 'node:crypto';
import type { Random } from '../host/random.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const idLength = 6;
const secretLength = 16;

/** As long as every token, and none of them. */
export const noToken = '0'.repeat(idLength + 1 + secretLength);

/** Every config is served with a token that lives this long: a machine that has not joined by then asks again. */
export const tokenLifeMs = 3_600_000;

/** Bytes below this give every letter the same chance. */
const fairBelow = 256 - (256 % alphabet.length);

export function newBootstrapToken(random: Random): string {
  let letters = '';
  while (letters.length < idLength + secretLength) {
    for (const byte of random.bytes(32)) if (byte < fairBelow) letters += alphabet[byte % alphabet.length];
  }
  return `${letters.slice(0, idLength)}.${letters.slice(idLength, idLength + secretLength)}`;
}

export function isBootstrapToken(text: string): boolean {
  return /^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(text);
}

export function tokenId(token: string): string {
  return token.slice(0, idLength);
}

/** SHA-256, in hex: what is stored and compared instead of a token. */
export function digestToken(token: string): string {
  return hash('sha256', token, 'hex');
}
