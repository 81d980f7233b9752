// Pool tokens: what a pointer config shows to a config server. The workstation holds the join key and derives a token
// per pool from it; servers hold only digests, so that reading a server's disk does not let anybody join.
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** The header of the pointer's `merge` entry that carries the token. */
export const poolTokenHeader = 'Authorization';

export const poolTokenPrefix = 'flp_';

export function poolToken(joinKey: Uint8Array, pool: string): string {
  return `${poolTokenPrefix}${createHmac('sha256', joinKey).update(`firstlight pool token v1\n${pool}`).digest('base64url')}`;
}

export function poolTokenHeaderValue(token: string): string {
  return `Bearer ${token}`;
}

/** pool → the digests that are accepted for it until their time is over; more than one while a rotation overlaps. */
export const poolTokenDigestsSchema = z.record(
  z.string(),
  z.array(z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), notAfter: z.iso.datetime() })).readonly(),
);
export type PoolTokenDigests = Readonly<z.output<typeof poolTokenDigestsSchema>>;

export type PoolTokenVerdict = 'accepted' | 'missing' | 'unknown' | 'expired' | 'other-pool';

/**
 * Whether `token`, which may be empty, opens `pool` now. The reason of a refusal is for the log only. Compares in
 * constant time with every digest of every pool, so that the time taken does not depend on what is wrong.
 */
export function judgePoolToken(
  token: string,
  pool: string,
  { digests, now }: { readonly digests: PoolTokenDigests; readonly now: Date },
): PoolTokenVerdict {
  const given = hash('sha256', token, 'buffer');
  let isKnown = false;
  let isAlive = false;
  let isAccepted = false;
  for (const [tokenPool, accepted] of Object.entries(digests)) {
    for (const { sha256, notAfter } of accepted) {
      const isEqual = timingSafeEqual(given, Buffer.from(sha256, 'hex'));
      const isValid = now.getTime() < Date.parse(notAfter);
      if (isEqual) isKnown = true;
      if (isEqual && isValid) isAlive = true;
      if (isEqual && isValid && tokenPool === pool) isAccepted = true;
    }
  }
  if (isAccepted) return 'accepted';
  if (token === '') return 'missing';
  if (!isKnown) return 'unknown';
  return isAlive ? 'other-pool' : 'expired';
}
