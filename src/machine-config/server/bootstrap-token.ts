// The single-use token that every served config carries, in the form of a Kubernetes bootstrap token: `id.secret`. The
// id is public (it is the name of the user the token authenticates), the secret is not. Servers keep digests.
import { hash } from 'node:crypto';
import type { Random } from '../../host/random.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const idLength = 6;
const secretLength = 16;
/** Bytes below this give every letter the same chance. */
const fairBelow = 256 - (256 % alphabet.length);

/** As long as every token, and none: what a HEAD is measured with. */
export const noToken = '0'.repeat(idLength + 1 + secretLength);

/** Makes tokens from the given chance, which is asked for many at a time. */
export function tokenMaker(random: Random): () => string {
  let chance: Uint8Array = new Uint8Array();
  let used = 0;
  const letter = (): string => {
    for (;;) {
      if (used === chance.length) {
        chance = random.bytes(2048);
        used = 0;
      }
      const byte = chance[used++] ?? 0;
      if (byte < fairBelow) return alphabet.charAt(byte % alphabet.length);
    }
  };
  return () => {
    const letters = Array.from({ length: idLength + secretLength }, letter);
    letters.splice(idLength, 0, '.');
    return letters.join('');
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
