// Single-use tokens as Secrets of the API, for the config servers of masters. Any of them may be asked about a token that
// another one issued, so nothing is decided from memory: a token is read from the API at every question, and what was
// given for it is written there by compare-and-set before it leaves. Only the count of tokens is followed by a watch.
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import {
  findWholeToken,
  issueBootstrapToken,
  type IssuedToken,
  readBootstrapToken,
  recordKeysGiven,
  secretKind,
  tokenSelection,
  type WholeToken,
} from '../admission/bootstrap-token.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { watchObjects } from '../kubernetes/watch.ts';
import { digestToken, isBootstrapToken, tokenId } from './bootstrap-token.ts';
import type { Issued, IssueRequest, KeysRequest, KeysVerdict, TokenIssuer } from './token-issuer.ts';
import { tokenLifeMs } from './token-issuer.ts';
import type { KnownToken } from './outstanding-tokens.ts';
import { judgeKeysRequest } from './token-ledger.ts';

/** Every token is an object of etcd until its machine has joined: fewer than a file may hold. */
export const apiTokenLimit = 5_000;

/** A little less than a machine is made to wait: Ignition gives up a request after ten seconds. */
const callMs = 7_000;
const attempts = 5;

export interface ApiTokenIssuerOptions {
  readonly client: KubernetesClient;
  readonly limit?: number;
  /** Told of every failure to follow the tokens; it goes on by itself. */
  readonly onTrouble?: (error: FirstlightError) => void;
}

export interface ApiTokenIssuer extends TokenIssuer, AsyncDisposable {}

export function openApiTokenIssuer(host: Host, options: ApiTokenIssuerOptions): ApiTokenIssuer {
  return new SecretIssuer(host, options);
}

class SecretIssuer implements ApiTokenIssuer {
  readonly #host: Host;
  readonly #options: ApiTokenIssuerOptions;
  readonly #end = new AbortController();
  readonly #following: Promise<void>;
  #expiries: readonly number[] = [];

  constructor(host: Host, options: ApiTokenIssuerOptions) {
    this.#host = host;
    this.#options = options;
    this.#following = this.#follow();
  }

  async issue({ pool, issuedTo }: IssueRequest): Promise<Issued> {
    const { limit = apiTokenLimit } = this.#options;
    if (this.outstanding() >= limit) return { status: 'too-many', limit };
    const now = this.#host.clock.now();
    const { id, token } = await this.#create({ pool, now, ...(issuedTo === undefined ? {} : { address: issuedTo }) });
    return { id, token: token.reveal() };
  }

  async check(request: KeysRequest): Promise<KeysVerdict> {
    return judgeKeysRequest(knownToken(await this.#find(request)), request, this.#host.clock.now());
  }

  async redeem(request: KeysRequest): Promise<KeysVerdict> {
    const { client } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.#find(request);
      const now = this.#host.clock.now();
      const found = judgeKeysRequest(knownToken(token), request, now);
      if (token === undefined || found.status === 'refused' || found.isRepeated) return found;
      const given = { at: now, to: digestToken(request.redemption) };
      if (await recordKeysGiven(client, token, { given, deadlineMs: callMs })) return found;
      // Somebody changed it between our look and our note: the approver of its certificate, or another server.
      if (attempt === attempts) throw new Error(`the token ${token.id} was changed by others ${attempts} times`);
    }
  }

  outstanding(): number {
    const now = this.#host.clock.now().getTime();
    return this.#expiries.reduce((count, expiry) => (expiry > now ? count + 1 : count), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the issuer of tokens has ended'));
    await this.#following;
  }

  /** What is no token at all is not worth a question. */
  async #find({ token }: KeysRequest): Promise<WholeToken | undefined> {
    if (!isBootstrapToken(token)) return undefined;
    return findWholeToken(this.#options.client, tokenId(token), { deadlineMs: callMs });
  }

  async #create(asked: { readonly pool: string; readonly now: Date; readonly address?: string }): Promise<IssuedToken> {
    const { random } = this.#host;
    const { client } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await issueBootstrapToken(client, { ...asked, random, lifeMs: tokenLifeMs, deadlineMs: callMs });
      } catch (error) {
        // Six letters meet by chance once in a while.
        if (!isError(error, kubernetesErrors.ALREADY_EXISTS) || attempt === attempts) throw error;
      }
    }
  }

  async #follow(): Promise<void> {
    const { client, onTrouble } = this.#options;
    const { signal } = this.#end;
    // A change brings the whole list, of which all but one are the objects of last time.
    const known = new WeakMap<KubernetesObject, number>();
    const expiryOf = (secret: KubernetesObject): number => {
      const expiry = known.get(secret) ?? readBootstrapToken(secret)?.expiresAt.getTime() ?? 0;
      known.set(secret, expiry);
      return expiry;
    };
    const watching = { client, host: this.#host, kind: secretKind, selection: tokenSelection, signal };
    try {
      for await (const secrets of watchObjects({ ...watching, ...(onTrouble === undefined ? {} : { onTrouble }) })) {
        this.#expiries = secrets.map(expiryOf);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** As the ledger of the bootstrap machine has it, so that one rule judges both. */
function knownToken(whole: WholeToken | undefined): KnownToken | undefined {
  if (whole === undefined) return undefined;
  const { pool, expiresAt, keysGiven } = whole;
  return {
    token: whole.token.reveal(),
    pool,
    expiresAtMs: expiresAt.getTime(),
    keysGiven: keysGiven === undefined ? undefined : { atMs: keysGiven.at.getTime(), redemption: keysGiven.to },
  };
}
