// The single-use token that every served config carries, in the form of a Kubernetes bootstrap token: `id.secret`. The
// id is public (it is the name of the user the token authenticates), the secret is not. Servers keep digests.
import { hash } from 'node:crypto';
import type { Random } from '../host/random.ts';

const letters = Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789');
export const idLength = 6;
const secretLength = 16;
/** Bytes below this give every letter the same chance. */
const fairBelow = 256 - (256 % letters.length);
/** Bytes of chance that are asked for at a time. */
const chanceBytes = 4096;

/** As long as every token, and none: what a HEAD is measured with. */
export const noToken = '0'.repeat(idLength + 1 + secretLength);

/** Makes tokens from the given chance, many at a time: each is then a part of one text. */
export function tokenMaker(random: Random): () => string {
  let tokens = '';
  let used = 0;
  return () => {
    while (used === tokens.length) {
      tokens = manyTokens(random.bytes(chanceBytes));
      used = 0;
    }
    used += noToken.length;
    return tokens.slice(used - noToken.length, used);
  };
}

/** One after the other; what is left over of the chance and makes no whole token is not used. */
function manyTokens(chance: Uint8Array): string {
  const made = Buffer.alloc(Math.ceil(chance.length / noToken.length + 1) * noToken.length, '.');
  let at = 0;
  for (const byte of chance) {
    if (byte >= fairBelow) continue;
    if (at % noToken.length === idLength) at += 1;
    made[at++] = letters[byte % letters.length] ?? 0;
  }
  return made.toString('latin1', 0, at - (at % noToken.length));
}

export function isBootstrapToken(text: string): boolean {
  return /^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(text);
}

export function tokenId(token: string): string {
  return token.slice(0, idLength);
}

export function digestToken(token: string): string {
  return hash('sha256', token, 'hex');
}
