// Single-use tokens in a file, for the time before there is an API to keep them in: one line per fact, appended and
// synced before anybody is answered. Requests that arrive during one write share the next, so a rack that starts at
// once costs a few syncs and not a thousand. bootkube reads the same file and turns it into Secrets.
import { timingSafeEqual } from 'node:crypto';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Files } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import { digestToken, isBootstrapToken, noToken, tokenId, tokenMaker } from './bootstrap-token.ts';
import { configServerErrors } from './errors.ts';
import { type GroupedAppend, groupedAppend } from './grouped-append.ts';
import type { IssueRequest, KeysRequest, KeysVerdict, TokenIssuer, TokenRecord } from './token-issuer.ts';
import { outstandingLimit, redemptionWindowMs, tokenLifeMs } from './token-issuer.ts';

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
  readonly expiresAtMs: number;
  readonly keysGiven?: { readonly at: string; readonly redemption: string };
}

/** Everything recorded so far; of a file that is being written, all but the line under way. Throws CONFIGSERVER_LEDGER. */
export async function readTokenLedger(files: Files, path: string): Promise<readonly LedgerEntry[]> {
  const content = Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array());
  return [...entriesOf(path, content).values()];
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
  const entries = entriesOf(path, content);
  const sizeBytes = content.lastIndexOf(0x0a) + 1;
  if (sizeBytes < content.length) await files.truncate(path, sizeBytes);
  return new FileLedger(host, { entries, log: await groupedAppend(host, { path, sizeBytes }), limit: options.limit });
}

interface LedgerParts {
  /** In the order in which they were issued, which is the order in which they expire. */
  readonly entries: Map<string, LedgerEntry>;
  readonly log: GroupedAppend;
  readonly limit: number | undefined;
}

class FileLedger implements TokenLedger {
  readonly #host: Host;
  readonly #parts: LedgerParts;
  readonly #makeToken: () => string;
  /** Redemptions on their way to the disk: whoever repeats one waits for it too. */
  readonly #redeeming = new Map<string, Promise<void>>();

  constructor(host: Host, parts: LedgerParts) {
    this.#host = host;
    this.#parts = parts;
    this.#makeToken = tokenMaker(host.random);
  }

  async issue(request: IssueRequest): ReturnType<TokenIssuer['issue']> {
    const { entries, log, limit = outstandingLimit } = this.#parts;
    if (this.outstanding() >= limit) return { status: 'too-many', limit };
    const token = this.#unusedToken();
    const at = this.#host.clock.now();
    const expiresAtMs = at.getTime() + tokenLifeMs;
    const record: TokenRecord = {
      id: tokenId(token),
      token,
      ...request,
      issuedAt: at.toISOString(),
      expiresAt: new Date(expiresAtMs).toISOString(),
    };
    entries.set(record.id, { record, expiresAtMs });
    try {
      await log.append({ kind: 'issued', ...record } satisfies Line);
    } catch (error) {
      entries.delete(record.id);
      throw error;
    }
    return record;
  }

  async check(request: KeysRequest): Promise<KeysVerdict> {
    return verdict(this.#parts.entries.get(tokenId(request.token)), request, this.#host.clock.now());
  }

  async redeem(request: KeysRequest): Promise<KeysVerdict> {
    const { entries, log } = this.#parts;
    const id = tokenId(request.token);
    const entry = entries.get(id);
    const found = verdict(entry, request, this.#host.clock.now());
    if (entry === undefined || found.status === 'refused') return found;
    if (found.isRepeated) {
      await this.#redeeming.get(id);
      return found;
    }
    const keysGiven = { at: this.#host.clock.now().toISOString(), redemption: digestToken(request.redemption) };
    // Before the write and not after it: a second request must not slip in between.
    entries.set(id, { ...entry, keysGiven });
    const writing = log.append({ kind: 'keys-given', id, ...keysGiven } satisfies Line);
    this.#redeeming.set(id, writing);
    try {
      await writing;
    } catch (error) {
      entries.set(id, entry);
      throw error;
    } finally {
      this.#redeeming.delete(id);
    }
    return found;
  }

  outstanding(): number {
    const { entries } = this.#parts;
    const nowMs = this.#host.clock.now().getTime();
    for (const [id, { expiresAtMs }] of entries) {
      if (expiresAtMs > nowMs) break;
      entries.delete(id);
    }
    return entries.size;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.log.close();
  }

  #unusedToken(): string {
    for (;;) {
      const token = this.#makeToken();
      if (!this.#parts.entries.has(tokenId(token))) return token;
    }
  }
}

/** The digests are compared whether or not the id is known, so that the time taken does not tell. */
export function verdict(entry: LedgerEntry | undefined, request: KeysRequest, now: Date): KeysVerdict {
  const isToken = isSame(digestToken(entry?.record.token ?? noToken), digestToken(request.token));
  const refused = (reason: Extract<KeysVerdict, { status: 'refused' }>['reason']): KeysVerdict => {
    return { status: 'refused', reason };
  };
  if (entry === undefined || !isToken || !isBootstrapToken(request.token)) return refused('unknown');
  if (now.getTime() >= entry.expiresAtMs) return refused('expired');
  if (entry.record.pool !== request.pool) return refused('other-pool');
  const { keysGiven } = entry;
  if (keysGiven === undefined) return { status: 'granted', isRepeated: false };
  const isRepeated = isSame(keysGiven.redemption, digestToken(request.redemption));
  const isInTime = now.getTime() - Date.parse(keysGiven.at) < redemptionWindowMs;
  return isRepeated && isInTime ? { status: 'granted', isRepeated } : refused('already-used');
}

function isSame(digest: string, other: string): boolean {
  const [one, two] = [Buffer.from(digest, 'hex'), Buffer.from(other, 'hex')];
  return one.length === two.length && timingSafeEqual(one, two);
}

function entriesOf(path: string, content: Buffer): Map<string, LedgerEntry> {
  const entries = new Map<string, LedgerEntry>();
  // What follows the last newline was being written when the writer died; nobody was answered with it.
  const lines = content.toString('utf8').split('\n').slice(0, -1);
  for (const [index, text] of lines.entries()) {
    const read = line.safeParse(parsed(text));
    if (!read.success) throw configServerErrors.LEDGER({ path, line: index + 1 });
    const { kind, ...fact } = read.data;
    if (kind === 'issued') {
      const record = fact as TokenRecord;
      entries.set(record.id, { record, expiresAtMs: Date.parse(record.expiresAt) });
      continue;
    }
    const entry = entries.get(fact.id);
    const { at, redemption } = fact as z.output<typeof keysGiven>;
    if (entry !== undefined) entries.set(fact.id, { ...entry, keysGiven: { at, redemption } });
  }
  return entries;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
