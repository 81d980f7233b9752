// The contract of what makes single-use tokens and remembers them: the ledger file of a bootstrap machine, or the API.
// A token is recorded before it is handed out, so that no machine holds one that is unknown; keys are given for a token
// only after that was recorded too. Each promise settles within ten seconds, when Ignition gives up a request.
import { timingSafeEqual } from 'node:crypto';
import { digestToken, isBootstrapToken, noToken } from '../admission/bootstrap-token.ts';
import type { KeysRecipient } from '../admission/keys-recipient.ts';

export interface IssueRequest {
  readonly pool: string;
  /** The rendered config that the token is served with. */
  readonly config: string;
  /** The address of the machine; absent where a load balancer that is not declared may be in between. */
  readonly issuedTo?: string;
}

export interface KeysRequest {
  readonly pool: string;
  /** As it was presented. */
  readonly token: string;
  /**
   * Chosen by the machine and kept by it until it has the keys. The first request fixes it; a repeated request with the
   * same one is the same request, whose answer was lost. A thief who learns the token later does not know it.
   */
  readonly redemption: string;
  /** Of the machine that asks; absent as for `issuedTo`. */
  readonly address?: string;
}

export type KeysVerdict =
  /** `machine`: who it is, where that is known. */
  | { readonly status: 'granted'; readonly isRepeated: boolean; readonly machine?: string }
  | {
      readonly status: 'refused';
      readonly reason:
        | 'unknown'
        | 'expired'
        | 'other-pool'
        | 'already-used'
        | Extract<KeysRecipient, { status: 'refused' }>['reason'];
    };

export interface ServedToken {
  readonly id: string;
  readonly token: string;
}

export type Issued = ServedToken | { readonly status: 'too-many'; readonly limit: number };

export interface TokenIssuer extends AsyncDisposable {
  issue(request: IssueRequest): Promise<Issued>;
  /**
   * Whether keys could be given for the token, without giving them; from what is in memory. `mayLookUp` is asked before
   * anything else is read for a token that is not there.
   */
  check(request: KeysRequest, mayLookUp: () => boolean): Promise<KeysVerdict>;
  /** The same, and it is recorded when it resolves with `granted`. */
  redeem(request: KeysRequest): Promise<KeysVerdict>;
  /** Tokens that were issued and have not expired. */
  outstanding(): number;
}

/** For so long a machine may ask again with the same redemption, because the answer was lost. */
export const redemptionWindowMs = 600_000;

export interface KeysRedeemed {
  readonly atMs: number;
  /** SHA-256 of what the machine chose. */
  readonly redemption: string;
}

/** What an issuer remembers of a token. */
export interface KnownToken {
  readonly token: string;
  readonly pool: string;
  readonly expiresAtMs: number;
  readonly issuedTo: string | undefined;
  readonly keysGiven: KeysRedeemed | undefined;
}

/** The digests are compared whether or not the id is known, so that the time taken does not tell. */
export function judgeKeysRequest(known: KnownToken | undefined, request: KeysRequest, now: Date): KeysVerdict {
  const isToken = isSameDigest(digestToken(known?.token ?? noToken), digestToken(request.token));
  const refused = (reason: Extract<KeysVerdict, { status: 'refused' }>['reason']): KeysVerdict => {
    return { status: 'refused', reason };
  };
  if (known === undefined || !isToken || !isBootstrapToken(request.token)) return refused('unknown');
  if (now.getTime() >= known.expiresAtMs) return refused('expired');
  if (known.pool !== request.pool) return refused('other-pool');
  const { keysGiven } = known;
  if (keysGiven === undefined) return { status: 'granted', isRepeated: false };
  const isRepeated = isSameDigest(keysGiven.redemption, digestToken(request.redemption));
  const isInTime = now.getTime() - keysGiven.atMs < redemptionWindowMs;
  return isRepeated && isInTime ? { status: 'granted', isRepeated } : refused('already-used');
}

function isSameDigest(digest: string, other: string): boolean {
  const [one, two] = [Buffer.from(digest, 'hex'), Buffer.from(other, 'hex')];
  return one.length === two.length && timingSafeEqual(one, two);
}
