// The file in which the config server of a bootstrap machine records every single-use token that it serves: one line of
// JSON per fact. The config server appends to it, bootkube reads it and turns the tokens into Secrets.
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { servedTokensErrors } from './errors.ts';

const issuedFields = {
  id: z.string(),
  token: z.string(),
  pool: z.string(),
  config: z.string(),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  issuedTo: z.string().exactOptional(),
};
const ledgerLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('issued'), ...issuedFields }),
  z.object({ kind: z.literal('keys-given'), id: z.string(), at: z.iso.datetime(), redemption: z.string() }),
]);
export type LedgerLine = z.output<typeof ledgerLine>;

export interface LedgerEntry {
  readonly record: Omit<Extract<LedgerLine, { kind: 'issued' }>, 'kind'>;
  /** When the keys of a master were given for it, and the digest of what the machine chose. */
  readonly keysGiven?: { readonly atMs: number; readonly redemption: string };
}

/** Everything recorded so far; of a file that is being written, all but the last line. Throws CONFIGSERVER_LEDGER. */
export async function readTokenLedger(files: Files, path: string): Promise<readonly LedgerEntry[]> {
  return ledgerEntries(path, Buffer.from((await files.readIfPresent(path)) ?? ''));
}

/** In the order in which they were issued. */
export function ledgerEntries(path: string, content: Buffer): readonly LedgerEntry[] {
  const entries = new Map<string, LedgerEntry>();
  // What follows the last newline was being written when the server died; no machine was answered with it.
  const lines = content.toString('utf8').split('\n').slice(0, -1);
  for (const [index, text] of lines.entries()) {
    const read = ledgerLine.safeParse(parsed(text));
    if (!read.success) throw servedTokensErrors.LEDGER({ path, line: index + 1 });
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
