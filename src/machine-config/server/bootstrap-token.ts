// The single-use token that every served config carries, in the form of a Kubernetes bootstrap token: `id.secret`. The
// id is public (it is the name of the user the token authenticates), the secret is not. Servers keep digests.
import { hash } from 'node:crypto';
import type { Random } from '../../host/random.ts';

const letters = Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789');
const idLength = 6;
const secretLength = 16;
/** Bytes below this give every letter the same chance. */
const fairBelow = 256 - (256 % letters.length);

/** As long as every token, and none: what a HEAD is measured with. */
export const noToken = '0'.repeat(idLength + 1 + secretLength);

/** Makes tokens from the given chance, which is asked for many at a time. */
export function tokenMaker(random: Random): () => string {
  let chance: Uint8Array = new Uint8Array();
  let used = 0;
  const letter = (): number => {
    for (;;) {
      if (used === chance.length) {
        chance = random.bytes(2048);
        used = 0;
      }
      const byte = chance[used++] ?? 0;
      if (byte < fairBelow) return letters[byte % letters.length] ?? 0;
    }
  };
  const text = Buffer.alloc(noToken.length, '.');
  return () => {
    for (let at = 0; at < text.length; at += 1) if (at !== idLength) text[at] = letter();
    return text.toString('latin1');
  };
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
