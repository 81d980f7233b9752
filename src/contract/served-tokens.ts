// The token ledger: the config server of a bootstrap machine appends one line of JSON for each single-use token that it
// serves, and one when keys are given for a token. bootkube reads the file and turns the tokens into Secrets.

import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
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
  z.object({
    kind: z.literal('keys-given'),
    id: z.string(),
    at: z.iso.datetime(),
    redemption: z.string(),
    machine: z.string().exactOptional(),
  }),
]);
export type LedgerLine = z.output<typeof ledgerLine>;

export interface LedgerEntry {
  readonly record: Omit<Extract<LedgerLine, { kind: 'issued' }>, 'kind'>;
  /** When the keys of a master were given for this token, the digest of the redemption that it chose, and its name. */
  readonly keysGiven?: { readonly atMs: number; readonly redemption: string; readonly machine?: string };
}

/** All complete lines; a last line that is still being written is left out. Throws CONFIGSERVER_LEDGER. */
export async function readTokenLedger(files: Files, path: string): Promise<readonly LedgerEntry[]> {
  return ledgerEntries(path, Buffer.from((await files.readIfPresent(path)) ?? ''));
}

/** The entries in the order in which the tokens were issued. */
export function ledgerEntries(path: string, content: Buffer): readonly LedgerEntry[] {
  const entries = new Map<string, LedgerEntry>();
  // Text after the last newline is an unfinished write. No machine has this token: servers write first, then answer.
  const lines = content.toString('utf8').split('\n').slice(0, -1);
  for (const [index, text] of lines.entries()) {
    const read = ledgerLine.safeParse(jsonIfValid(text));
    if (!read.success) throw servedTokensErrors.LEDGER({ path, line: index + 1 });
    const { data } = read;
    const entry = entries.get(data.id);
    if (data.kind === 'issued') {
      const { kind: _kind, ...record } = data;
      entries.set(data.id, { record });
    } else if (entry !== undefined) {
      const { at, redemption, machine } = data;
      const keysGiven = { atMs: Date.parse(at), redemption, ...(machine === undefined ? {} : { machine }) };
      entries.set(data.id, { ...entry, keysGiven });
    }
  }
  return [...entries.values()];
}
