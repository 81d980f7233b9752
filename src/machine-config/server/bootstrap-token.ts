// The single-use token that every served config carries, in the form of a Kubernetes bootstrap token: `id.secret`. The
// id is public (it is the name of the user the token authenticates), the secret is not. Servers keep digests.
import { hash } from 'node:crypto';
import type { Random } from '../../host/random.ts';

const letters = Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789');
export const idLength = 6;
const secretLength = 16;
/** Bytes below this give every letter the same chance. */
const fairBelow = 256 - (256 % letters.length);
/** Bytes of chance that are asked for at a time. */
const chanceBytes = 4096;

/** As long as every token, and none: what a HEAD is measured with. */
export const noToken = '0'.repeat(idLength + 1 + secretLength);

/** Makes tokens from the given chance, which is asked for many at a time. */
export function tokenMaker(random: Random): () => string {
  let text = '';
  let used = 0;
  return () => {
    while (text.length - used < idLength + secretLength) {
      text = text.slice(used) + fairLetters(random.bytes(chanceBytes));
      used = 0;
    }
    const secretAt = used + idLength;
    const token = `${text.slice(used, secretAt)}.${text.slice(secretAt, secretAt + secretLength)}`;
    used = secretAt + secretLength;
    return token;
  };
}

/** One for every byte that is fair. */
function fairLetters(chance: Uint8Array): string {
  const made = Buffer.allocUnsafe(chance.length);
  let count = 0;
  for (const byte of chance) if (byte < fairBelow) made[count++] = letters[byte % letters.length] ?? 0;
  return made.toString('latin1', 0, count);
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
