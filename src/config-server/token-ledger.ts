// Issues single-use tokens while there is no API to keep them in: each is a line of the file in contract/served-tokens,
// on the disk before a machine is answered. Requests that arrive during one write share the next, so that a thousand
// machines at once cost a few syncs.
import { dirname } from 'node:path';
import { digestToken, newBootstrapToken, tokenId, tokenLifeMs } from '../admission/bootstrap-token.ts';
import { keysRecipient } from '../admission/keys-recipient.ts';
import type { Inventory } from '../contract/inventory.ts';
import { type LedgerEntry, type LedgerLine, ledgerEntries } from '../contract/served-tokens.ts';
import type { Host } from '../host/host.ts';
import { type GroupedAppend, groupedAppend } from './grouped-append.ts';
import type { Issued, IssueRequest, KeysRequest, KeysVerdict, KnownToken, TokenIssuer } from './token-issuer.ts';
import { judgeKeysRequest } from './token-issuer.ts';
import { TokenQuota } from './token-quota.ts';

export interface LedgerOptions {
  readonly path: string;
  readonly inventory: Inventory;
  /** Of outstanding tokens. */
  readonly limit: number;
}

export async function openTokenLedger(host: Host, options: LedgerOptions): Promise<TokenIssuer> {
  const { path, limit, inventory } = options;
  const { files } = host;
  await files.makeFolder(dirname(path), { mode: 0o700 });
  const content = Buffer.from((await files.readIfPresent(path)) ?? '');
  const tokens = new Map(ledgerEntries(path, content).map((entry) => [entry.record.id, knownToken(entry)]));
  const quota = new TokenQuota(limit);
  for (const token of tokens.values()) quota.add(token);
  const sizeBytes = content.lastIndexOf(0x0a) + 1;
  if (sizeBytes < content.length) await files.truncate(path, sizeBytes);
  return new TokenLedger(host, { tokens, log: await groupedAppend(host, { path, sizeBytes }), quota, inventory });
}

interface LedgerParts {
  /** By id, in the order in which they were issued, which is the order in which they expire. */
  readonly tokens: Map<string, KnownToken>;
  readonly log: GroupedAppend;
  readonly quota: TokenQuota;
  readonly inventory: Inventory;
}

class TokenLedger implements TokenIssuer {
  readonly #host: Host;
  readonly #parts: LedgerParts;
  /** Redemptions that are being written: a repeated request waits for the first one. */
  readonly #redeeming = new Map<string, Promise<void>>();

  constructor(host: Host, parts: LedgerParts) {
    this.#host = host;
    this.#parts = parts;
  }

  async issue(request: IssueRequest): Promise<Issued> {
    const { tokens, quota } = this.#parts;
    this.#forgetExpired();
    const limit = quota.reached(request);
    if (limit !== undefined) return { status: 'too-many', limit };
    const token = this.#newToken();
    const id = tokenId(token);
    const now = this.#host.clock.now();
    const expiresAt = new Date(now.getTime() + tokenLifeMs);
    const { pool, issuedTo } = request;
    tokens.set(id, { token, pool, expiresAtMs: expiresAt.getTime(), issuedTo, keysGiven: undefined });
    quota.add(request);
    const times = { issuedAt: now.toISOString(), expiresAt: expiresAt.toISOString() };
    try {
      await this.#write({ kind: 'issued', id, token, ...request, ...times });
    } catch (error) {
      tokens.delete(id);
      quota.remove(request);
      throw error;
    }
    return { id, token };
  }

  async check(request: KeysRequest): Promise<KeysVerdict> {
    return judgeKeysRequest(this.#parts.tokens.get(tokenId(request.token)), request, this.#host.clock.now());
  }

  async redeem(request: KeysRequest): Promise<KeysVerdict> {
    const { tokens } = this.#parts;
    const id = tokenId(request.token);
    const known = tokens.get(id);
    const at = this.#host.clock.now();
    const found = judgeKeysRequest(known, request, at);
    if (known === undefined || found.status === 'refused') return found;
    // Which nodes run, only the API knows; while this server serves, the masters are not nodes yet.
    const { inventory } = this.#parts;
    const recipient = keysRecipient({ ...request, issuedTo: known.issuedTo }, { inventory, nodes: [] });
    if (recipient.status === 'refused') return recipient;
    const machine = recipient.machine === undefined ? {} : { machine: recipient.machine };
    if (found.isRepeated) {
      await this.#redeeming.get(id);
      return { ...found, ...machine };
    }
    const redemption = digestToken(request.redemption);
    // Before the write and not after it: a second request must not be granted in between.
    tokens.set(id, { ...known, keysGiven: { atMs: at.getTime(), redemption } });
    const writing = this.#write({ kind: 'keys-given', id, at: at.toISOString(), redemption, ...machine });
    this.#redeeming.set(id, writing);
    try {
      await writing;
    } catch (error) {
      tokens.set(id, known);
      throw error;
    } finally {
      this.#redeeming.delete(id);
    }
    return { ...found, ...machine };
  }

  outstanding(): number {
    this.#forgetExpired();
    return this.#parts.tokens.size;
  }

  #forgetExpired(): void {
    const { tokens, quota } = this.#parts;
    const nowMs = this.#host.clock.now().getTime();
    for (const [id, token] of tokens) {
      if (token.expiresAtMs > nowMs) break;
      tokens.delete(id);
      quota.remove(token);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.log.close();
  }

  #newToken(): string {
    for (;;) {
      const token = newBootstrapToken(this.#host.random);
      if (!this.#parts.tokens.has(tokenId(token))) return token;
    }
  }

  #write(fact: LedgerLine): Promise<void> {
    return this.#parts.log.append(JSON.stringify(fact));
  }
}

function knownToken({ record, keysGiven }: LedgerEntry): KnownToken {
  const { token, pool, issuedTo } = record;
  return { token, pool, expiresAtMs: Date.parse(record.expiresAt), issuedTo, keysGiven };
}
