// Who may ask: the token of a request, judged. The reason is for the log alone; whoever is refused is told nothing, and
// the same work is done for every request, whatever is wrong with it.
import { timingSafeEqual } from 'node:crypto';
import type { PoolTokenDigests } from '../pool-token.ts';
import { digestToken } from './bootstrap-token.ts';

export type Access =
  | { readonly status: 'granted' }
  | { readonly status: 'refused'; readonly reason: 'missing' | 'unknown' | 'expired' | 'other-pool' };

/** The credential of `Authorization: Bearer …`; empty where there is none. */
export function bearerToken(authorization: string | undefined): string {
  return /^Bearer +([!-~]{1,256}) *$/i.exec(authorization ?? '')?.[1] ?? '';
}

/** Looks at every digest of every pool, whichever pool was asked for and whether or not one has matched already. */
export function judgePoolToken(
  token: string,
  pool: string,
  accepted: { readonly digests: PoolTokenDigests; readonly now: Date },
): Access {
  const given = Buffer.from(digestToken(token), 'hex');
  let isKnown = false;
  let isAlive = false;
  let isRight = false;
  for (const [name, digests] of Object.entries(accepted.digests)) {
    for (const { sha256, notAfter } of digests) {
      const isEqual = timingSafeEqual(given, Buffer.from(sha256, 'hex'));
      const isValid = accepted.now.getTime() < Date.parse(notAfter);
      if (isEqual) isKnown = true;
      if (isEqual && isValid) isAlive = true;
      if (isEqual && isValid && name === pool) isRight = true;
    }
  }
  if (isRight) return { status: 'granted' };
  return {
    status: 'refused',
    reason: token === '' ? 'missing' : !isKnown ? 'unknown' : !isAlive ? 'expired' : 'other-pool',
  };
}
