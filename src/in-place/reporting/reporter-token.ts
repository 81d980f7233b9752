// The token that reports of one attempt are made with. The API of the cluster holds its digest only.
import type { Random } from '../../host/random.ts';

export function newReporterToken(random: Random): string {
  return `flr_${Buffer.from(random.bytes(32)).toString('base64url')}`;
}

/** A text of another form costs nobody a look. */
export function isReporterTokenForm(text: string): boolean {
  return /^flr_[A-Za-z0-9_-]{43}$/.test(text);
}
