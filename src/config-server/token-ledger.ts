// Single-use tokens in a file, for the time before there is an API to keep them in: one line per fact, appended and
// synced before anybody is answered. Requests that arrive during one write share the next, so a rack that starts at
// once costs a few syncs and not a thousand; in a rush tokens are written ahead. bootkube reads the same file and turns
// it into Secrets.
import { timingSafeEqual } from 'node:crypto';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { digestToken, isBootstrapToken, noToken, tokenId, tokenMaker } from './bootstrap-token.ts';
import { configServerErrors } from './errors.ts';
import { type GroupedAppend, groupedAppend } from './grouped-append.ts';
import { type KeysRedeemed, type KnownToken, OutstandingTokens } from './outstanding-tokens.ts';
import type { Issued, IssueRequest, KeysRequest, KeysVerdict, TokenIssuer, TokenRecord } from './token-issuer.ts';
import { outstandingLimit, redemptionWindowMs, tokenLifeMs } from './token-issuer.ts';
import { TokensAhead } from './tokens-ahead.ts';

const issued = z.object({
  kind: z.literal('issued'),
  id: z.string(),
  token: z.string(),
  pool: z.string(),
  config: z.string(),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  issuedTo: z.string().exactOptional(),
});
const keysGiven = z.object({
  kind: z.literal('keys-given'),
  id: z.string(),
  at: z.iso.datetime(),
  /** SHA-256 of what the machine chose. */
  redemption: z.string(),
});
const line = z.discriminatedUnion('kind', [issued, keysGiven]);
type Line = z.output<typeof line>;

export interface LedgerEntry {
  readonly record: TokenRecord;
  readonly keysGiven?: KeysRedeemed;
}

/** Everything recorded so far; of a file that is being written, all but the line under way. Throws CONFIGSERVER_LEDGER. */
export async function readTokenLedger(files: Files, path: string): Promise<readonly LedgerEntry[]> {
  const content = Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array());
  return entriesOf(path, content);
}

export interface LedgerOptions {
  readonly path: string;
  readonly limit?: number;
}

export interface TokenLedger extends TokenIssuer, AsyncDisposable {}

export async function openTokenLedger(host: Host, options: LedgerOptions): Promise<TokenLedger> {
  const { files } = host;
  const { path } = options;
  await files.makeFolder(dirname(path), { mode: 0o700 });
  const content = Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array());
  const tokens = new OutstandingTokens();
  for (const entry of entriesOf(path, content)) {
    // Anything else was written by somebody else, and nobody can ever show it.
    if (entry.record.id === tokenId(entry.record.token)) tokens.add(knownToken(entry));
  }
  const sizeBytes = content.lastIndexOf(0x0a) + 1;
  if (sizeBytes < content.length) await files.truncate(path, sizeBytes);
  const { limit = outstandingLimit } = options;
  return new FileLedger(host, { tokens, log: await groupedAppend(host, { path, sizeBytes }), limit });
}

interface LedgerParts {
  readonly tokens: OutstandingTokens;
  readonly log: GroupedAppend;
  readonly limit: number;
}

class FileLedger implements TokenLedger {
  readonly #host: Host;
  readonly #parts: LedgerParts;
  readonly #makeToken: () => string;
  /** The times of the last token: many are made in the same millisecond. */
  #times = tokenTimes(0);
  /** What a line says of a pool, of the same millisecond. */
  readonly #lineEnds = new Map<
    string,
    { readonly times: TokenTimes; readonly config: string; readonly text: string }
  >();
  /** By pool. */
  readonly #ahead = new Map<string, TokensAhead>();
  /** Redemptions on their way to the disk: whoever repeats one waits for it too. */
  readonly #redeeming = new Map<string, Promise<void>>();

  constructor(host: Host, parts: LedgerParts) {
    this.#host = host;
    this.#parts = parts;
    this.#makeToken = tokenMaker(host.random);
  }

  issue({ pool, config, issuedTo }: IssueRequest): Issued | Promise<Issued> {
    const { tokens, limit } = this.#parts;
    const nowMs = this.#host.clock.nowMs();
    tokens.forgetExpired(nowMs);
    // A record says for whom a load balancer asked, and nobody knows that ahead.
    const ready = issuedTo === undefined ? this.#fromAhead({ pool, config }, nowMs) : undefined;
    if (ready !== undefined) return { id: tokenId(ready), token: ready };
    if (tokens.size >= limit) return { status: 'too-many', limit };
    return this.#record({ pool, config, ...(issuedTo === undefined ? {} : { issuedTo }) }, 1).then(([token = '']) => {
      return { id: tokenId(token), token };
    });
  }

  async check(request: KeysRequest): Promise<KeysVerdict> {
    return judgeKeysRequest(this.#parts.tokens.get(tokenId(request.token)), request, this.#host.clock.now());
  }

  async redeem(request: KeysRequest): Promise<KeysVerdict> {
    const { tokens, log } = this.#parts;
    const id = tokenId(request.token);
    const known = tokens.get(id);
    const at = this.#host.clock.now();
    const found = judgeKeysRequest(known, request, at);
    if (known === undefined || found.status === 'refused') return found;
    if (found.isRepeated) {
      await this.#redeeming.get(id);
      return found;
    }
    const redemption = digestToken(request.redemption);
    // Before the write and not after it: a second request must not slip in between.
    tokens.setKeysGiven(id, { atMs: at.getTime(), redemption });
    const writing = log.append(
      JSON.stringify({ kind: 'keys-given', id, at: at.toISOString(), redemption } satisfies Line),
    );
    this.#redeeming.set(id, writing);
    try {
      await writing;
    } catch (error) {
      tokens.setKeysGiven(id, undefined);
      throw error;
    } finally {
      this.#redeeming.delete(id);
    }
    return found;
  }

  outstanding(): number {
    this.#parts.tokens.forgetExpired(this.#host.clock.nowMs());
    return this.#parts.tokens.size;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.log.close();
  }

  #fromAhead(request: IssueRequest, nowMs: number): string | undefined {
    const { tokens, limit } = this.#parts;
    const { pool, config } = request;
    let ahead = this.#ahead.get(pool);
    if (ahead === undefined) this.#ahead.set(pool, (ahead = new TokensAhead()));
    const token = ahead.take(config, nowMs);
    const missing = Math.min(ahead.missing, limit - tokens.size);
    // Whoever asks when they could not be recorded is told so.
    if (missing > 0) void ahead.add(config, nowMs, this.#record(request, missing)).catch(() => {});
    return token;
  }

  /** New tokens, when they are on the disk. */
  async #record(request: IssueRequest, count: number): Promise<readonly string[]> {
    const { tokens, log } = this.#parts;
    const nowMs = this.#host.clock.nowMs();
    if (this.#times.atMs !== nowMs) this.#times = tokenTimes(nowMs);
    const made = Array.from({ length: count }, () => this.#newToken(request.pool));
    try {
      await log.append(made.map((token) => this.#lineOf(token, request)).join('\n'));
    } catch (error) {
      for (const token of made) tokens.delete(tokenId(token));
      throw error;
    }
    return made;
  }

  #newToken(pool: string): string {
    const { expiresAtMs } = this.#times;
    for (;;) {
      const token = this.#makeToken();
      if (this.#parts.tokens.add({ token, pool, expiresAtMs, keysGiven: undefined })) return token;
    }
  }

  /** By hand, because there are thousands in a second: letters and digits need no escaping, the rest has been escaped. */
  #lineOf(token: string, { pool, config, issuedTo }: IssueRequest): string {
    const end = this.#lineEnd(pool, config);
    const to = issuedTo === undefined ? end : `","issuedTo":${JSON.stringify(issuedTo)}${end.slice(1)}`;
    return `{"kind":"issued","id":"${tokenId(token)}","token":"${token}${to}`;
  }

  /** From the quote that ends the token on. */
  #lineEnd(pool: string, config: string): string {
    const times = this.#times;
    const last = this.#lineEnds.get(pool);
    if (last?.times === times && last.config === config) return last.text;
    const { issuedAt, expiresAt } = times;
    const text = `",${JSON.stringify({ pool, config, issuedAt, expiresAt }).slice(1)}`;
    this.#lineEnds.set(pool, { times, config, text });
    return text;
  }
}

interface TokenTimes {
  readonly atMs: number;
  readonly issuedAt: string;
  readonly expiresAtMs: number;
  readonly expiresAt: string;
}

function tokenTimes(atMs: number): TokenTimes {
  const expiresAtMs = atMs + tokenLifeMs;
  return { atMs, issuedAt: new Date(atMs).toISOString(), expiresAtMs, expiresAt: new Date(expiresAtMs).toISOString() };
}

/** The digests are compared whether or not the id is known, so that the time taken does not tell. */
export function judgeKeysRequest(known: KnownToken | undefined, request: KeysRequest, now: Date): KeysVerdict {
  const isToken = isSame(digestToken(known?.token ?? noToken), digestToken(request.token));
  const refused = (reason: Extract<KeysVerdict, { status: 'refused' }>['reason']): KeysVerdict => {
    return { status: 'refused', reason };
  };
  if (known === undefined || !isToken || !isBootstrapToken(request.token)) return refused('unknown');
  if (now.getTime() >= known.expiresAtMs) return refused('expired');
  if (known.pool !== request.pool) return refused('other-pool');
  const { keysGiven } = known;
  if (keysGiven === undefined) return { status: 'granted', isRepeated: false };
  const isRepeated = isSame(keysGiven.redemption, digestToken(request.redemption));
  const isInTime = now.getTime() - keysGiven.atMs < redemptionWindowMs;
  return isRepeated && isInTime ? { status: 'granted', isRepeated } : refused('already-used');
}

function isSame(digest: string, other: string): boolean {
  const [one, two] = [Buffer.from(digest, 'hex'), Buffer.from(other, 'hex')];
  return one.length === two.length && timingSafeEqual(one, two);
}

function knownToken({ record, keysGiven }: LedgerEntry): KnownToken {
  return { token: record.token, pool: record.pool, expiresAtMs: Date.parse(record.expiresAt), keysGiven };
}

/** In the order in which they were issued. */
function entriesOf(path: string, content: Buffer): readonly LedgerEntry[] {
  const entries = new Map<string, LedgerEntry>();
  // What follows the last newline was being written when the writer died; nobody was answered with it.
  const lines = content.toString('utf8').split('\n').slice(0, -1);
  for (const [index, text] of lines.entries()) {
    const read = line.safeParse(parsed(text));
    if (!read.success) throw configServerErrors.LEDGER({ path, line: index + 1 });
    const { data } = read;
    const entry = entries.get(data.id);
    if (data.kind === 'issued') {
      const { kind: _kind, ...record } = data;
      entries.set(data.id, { record });
    } else if (entry !== undefined) {
      const keysGiven = { atMs: Date.parse(data.at), redemption: data.redemption };
      entries.set(data.id, { ...entry, keysGiven });
    }
  }
  return [...entries.values()];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
