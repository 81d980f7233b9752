// Who makes single-use tokens and remembers them. Two rules hold for every implementation: a token is recorded before
// it is handed out, so that no machine ever holds one that nobody knows; and keys are given for a token only after
// that was recorded too. Each promise settles within ten seconds, when Ignition gives up a request.

/** What is known of a token that was served. */
export interface TokenRecord {
  readonly id: string;
  readonly token: string;
  readonly pool: string;
  /** The rendered config it was served with. */
  readonly config: string;
  /** When it was recorded. */
  readonly issuedAt: string;
  readonly expiresAt: string;
  /** Known only where a load balancer told it. */
  readonly issuedTo?: string;
}

export interface IssueRequest {
  readonly pool: string;
  readonly config: string;
  readonly issuedTo?: string;
}

export interface KeysRequest {
  readonly pool: string;
  /** As it was presented. */
  readonly token: string;
  /**
   * Chosen by the machine, kept by it until it has the keys. The first request fixes it; a repeated request with the
   * same one is the same request, whose answer was lost. Whoever learns the token later does not know it.
   */
  readonly redemption: string;
}

export type KeysVerdict =
  | { readonly status: 'granted'; readonly isRepeated: boolean }
  | { readonly status: 'refused'; readonly reason: 'unknown' | 'expired' | 'other-pool' | 'already-used' };

/** What a machine is told, and what it is called in the log. */
export type ServedToken = Pick<TokenRecord, 'id' | 'token'>;

export type Issued = ServedToken | { readonly status: 'too-many'; readonly limit: number };

export interface TokenIssuer {
  /** At once where a token is recorded already. */
  issue(request: IssueRequest): Issued | Promise<Issued>;
  /** Whether keys could be given for the token, without giving them: what a stranger is told apart by. */
  check(request: KeysRequest): Promise<KeysVerdict>;
  /** The same, and it is recorded when it resolves with `granted`. */
  redeem(request: KeysRequest): Promise<KeysVerdict>;
  /** Tokens that were issued and have not expired. */
  outstanding(): number;
}

/** A token lives this long after it was served: a machine that has not joined by then asks again. */
export const tokenLifeMs = 3_600_000;

/** So long a machine may ask again with the same redemption, because the answer was lost on the way. */
export const redemptionWindowMs = 600_000;

/** More than any rack starts in an hour; a loop that fetches and never joins stops here instead of filling the disk. */
export const outstandingLimit = 20_000;
