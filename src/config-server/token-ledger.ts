// Single-use tokens in a file, for the time before there is an API to keep them in: one line of JSON per fact, on the
// disk before a machine is answered. Requests that arrive during one write share the next, so a thousand machines that
// start at once cost a few syncs. bootkube reads the same file and turns it into Secrets.
import { dirname } from 'node:path';
import { z } from 'zod';
import { digestToken, newBootstrapToken, tokenId, tokenLifeMs } from '../admission/bootstrap-token.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { configServerErrors } from './errors.ts';
import { type GroupedAppend, groupedAppend } from './grouped-append.ts';
import type {
  Issued,
  IssueRequest,
  KeysRedeemed,
  KeysRequest,
  KeysVerdict,
  KnownToken,
  TokenIssuer,
} from './token-issuer.ts';
import { judgeKeysRequest } from './token-issuer.ts';

const issuedFields = {
  id: z.string(),
  token: z.string(),
  pool: z.string(),
  config: z.string(),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  issuedTo: z.string().exactOptional(),
};
const line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('issued'), ...issuedFields }),
  z.object({ kind: z.literal('keys-given'), id: z.string(), at: z.iso.datetime(), redemption: z.string() }),
]);
type Line = z.output<typeof line>;

export interface LedgerEntry {
  readonly record: Omit<Extract<Line, { kind: 'issued' }>, 'kind'>;
  readonly keysGiven?: KeysRedeemed;
}

/** Everything recorded so far; of a file that is being written, all but the last line. Throws CONFIGSERVER_LEDGER. */
export async function readTokenLedger(files: Files, path: string): Promise<readonly LedgerEntry[]> {
  return entriesOf(path, Buffer.from((await files.readIfPresent(path)) ?? ''));
}

export interface LedgerOptions {
  readonly path: string;
  /** Of outstanding tokens. */
  readonly limit: number;
}

export async function openTokenLedger(host: Host, { path, limit }: LedgerOptions): Promise<TokenIssuer> {
  const { files } = host;
  await files.makeFolder(dirname(path), { mode: 0o700 });
  const content = Buffer.from((await files.readIfPresent(path)) ?? '');
  const tokens = new Map(entriesOf(path, content).map((entry) => [entry.record.id, knownToken(entry)]));
  const sizeBytes = content.lastIndexOf(0x0a) + 1;
  if (sizeBytes < content.length) await files.truncate(path, sizeBytes);
  return new TokenLedger(host, { tokens, log: await groupedAppend(host, { path, sizeBytes }), limit });
}

interface LedgerParts {
  /** By id, in the order in which they were issued, which is the order in which they expire. */
  readonly tokens: Map<string, KnownToken>;
  readonly log: GroupedAppend;
  readonly limit: number;
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
    const { tokens, limit } = this.#parts;
    if (this.outstanding() >= limit) return { status: 'too-many', limit };
    const token = this.#newToken();
    const id = tokenId(token);
    const now = this.#host.clock.now();
    const expiresAt = new Date(now.getTime() + tokenLifeMs);
    tokens.set(id, { token, pool: request.pool, expiresAtMs: expiresAt.getTime(), keysGiven: undefined });
    const times = { issuedAt: now.toISOString(), expiresAt: expiresAt.toISOString() };
    try {
      await this.#write({ kind: 'issued', id, token, ...request, ...times });
    } catch (error) {
      tokens.delete(id);
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
    if (found.isRepeated) {
      await this.#redeeming.get(id);
      return found;
    }
    const redemption = digestToken(request.redemption);
    // Before the write and not after it: a second request must not be granted in between.
    tokens.set(id, { ...known, keysGiven: { atMs: at.getTime(), redemption } });
    const writing = this.#write({ kind: 'keys-given', id, at: at.toISOString(), redemption });
    this.#redeeming.set(id, writing);
    try {
      await writing;
    } catch (error) {
      tokens.set(id, known);
      throw error;
    } finally {
      this.#redeeming.delete(id);
    }
    return found;
  }

  outstanding(): number {
    const { tokens } = this.#parts;
    const nowMs = this.#host.clock.now().getTime();
    for (const [id, { expiresAtMs }] of tokens) {
      if (expiresAtMs > nowMs) break;
      tokens.delete(id);
    }
    return tokens.size;
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

  #write(fact: Line): Promise<void> {
    return this.#parts.log.append(JSON.stringify(fact));
  }
}

function knownToken({ record, keysGiven }: LedgerEntry): KnownToken {
  return { token: record.token, pool: record.pool, expiresAtMs: Date.parse(record.expiresAt), keysGiven };
}

/** In the order in which they were issued. */
function entriesOf(path: string, content: Buffer): readonly LedgerEntry[] {
  const entries = new Map<string, LedgerEntry>();
  // What follows the last newline was being written when the server died; no machine was answered with it.
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
