// Pool tokens: what a pointer config shows to a config server. The workstation holds the join key and derives a token
// per pool from it; servers hold only digests, so that reading a server's disk does not let anybody join.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The header of the pointer's `merge` entry that carries the token. */
export const poolTokenHeader = 'Authorization';

export function poolToken(joinKey: Uint8Array, pool: string): string {
  return `flp_${createHmac('sha256', joinKey).update(`firstlight pool token v1\n${pool}`).digest('base64url')}`;
}

export function poolTokenHeaderValue(token: string): string {
  return `Bearer ${token}`;
}

/** What a server stores instead of the token. */
export interface PoolTokenDigest {
  readonly sha256: string;
  /** ISO time after which it is no longer accepted. */
  readonly notAfter: string;
}

/** pool → the digests that are accepted for it; more than one while a rotation overlaps. */
export type PoolTokenDigests = Readonly<Record<string, readonly PoolTokenDigest[]>>;

/** Where the cluster keeps the digests, for the config servers of masters. */
export const poolTokensSecret = {
  name: 'firstlight-pool-tokens',
  namespace: 'kube-system',
  key: 'pool-tokens.json',
} as const;

export function digestPoolToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Whether `token` is one of `accepted` now. Compares digests in constant time and looks at every one of them. */
export function isAcceptedToken(token: string, accepted: readonly PoolTokenDigest[], now: Date): boolean {
  const given = Buffer.from(digestPoolToken(token), 'hex');
  let isAccepted = false;
  for (const { sha256, notAfter } of accepted) {
    const isEqual = timingSafeEqual(given, Buffer.from(sha256, 'hex'));
    if (isEqual && now.getTime() < Date.parse(notAfter)) isAccepted = true;
  }
  return isAccepted;
}
