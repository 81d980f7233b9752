// Who may ask: the token of a request, judged. The reason is for the log alone; whoever is refused is told nothing, and
// the same work is done for every request, whatever is wrong with it.
import { hash, timingSafeEqual } from 'node:crypto';
import type { PoolTokenDigests } from '../admission/pool-token.ts';

export type Access =
  /** As long as the digests are these. */
  | { readonly status: 'granted'; readonly untilMs: number }
  | { readonly status: 'refused'; readonly reason: 'missing' | 'unknown' | 'expired' | 'other-pool' };

/** The credential of `Authorization: Bearer …`; empty where there is none. */
export function bearerToken(authorization: string | undefined): string {
  return /^Bearer +([!-~]{1,256}) *$/i.exec(authorization ?? '')?.[1] ?? '';
}

interface Accepted {
  readonly pool: string;
  readonly digest: Buffer;
  readonly notAfterMs: number;
}

/** What is compared with, worked out once per set of digests. */
const prepared = new WeakMap<PoolTokenDigests, readonly Accepted[]>();

function acceptedOf(digests: PoolTokenDigests): readonly Accepted[] {
  const known = prepared.get(digests);
  if (known !== undefined) return known;
  const accepted = Object.entries(digests).flatMap(([pool, list]) =>
    list.map(({ sha256, notAfter }) => ({
      pool,
      digest: Buffer.from(sha256, 'hex'),
      notAfterMs: Date.parse(notAfter),
    })),
  );
  prepared.set(digests, accepted);
  return accepted;
}

/** Looks at every digest of every pool, whichever pool was asked for and whether or not one has matched already. */
export function judgePoolToken(
  token: string,
  pool: string,
  accepted: { readonly digests: PoolTokenDigests; readonly nowMs: number },
): Access {
  const given = hash('sha256', token, 'buffer');
  const { nowMs } = accepted;
  let isKnown = false;
  let isAlive = false;
  let rightUntilMs = 0;
  for (const one of acceptedOf(accepted.digests)) {
    const isEqual = timingSafeEqual(given, one.digest);
    const isValid = nowMs < one.notAfterMs;
    if (isEqual) isKnown = true;
    if (isEqual && isValid) isAlive = true;
    if (isEqual && isValid && one.pool === pool) rightUntilMs = Math.max(rightUntilMs, one.notAfterMs);
  }
  if (rightUntilMs > 0) return { status: 'granted', untilMs: rightUntilMs };
  const reason = token === '' ? 'missing' : !isKnown ? 'unknown' : !isAlive ? 'expired' : 'other-pool';
  return { status: 'refused', reason };
}
