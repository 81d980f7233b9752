// The config server of this machine serves tokens before there is an API. This file turns these tokens into Secrets of
// the API. Published tokens are recorded in a file, because a used token is deleted and must not be created again.
import { findBootstrapToken, recordKeysGiven, storeBootstrapToken } from '../admission/bootstrap-token-secret.ts';
import { announceKeysGiven } from '../admission/keys-event.ts';
import { configServerPaths } from '../contract/machine-paths.ts';
import { type LedgerEntry, readTokenLedger } from '../contract/served-tokens.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { Secret } from '../host/secret.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';

const publishedFile = `${configServerPaths.tokenLedger}.published`;

/** Publishes the new tokens and returns their number. */
export async function publishTokens(host: Host, client: KubernetesClient): Promise<number> {
  const { files, clock } = host;
  const noted = await files.readIfPresent(publishedFile);
  const published = new Set(
    Buffer.from(noted ?? '')
      .toString('utf8')
      .split('\n'),
  );
  const ledger = await readTokenLedger(files, configServerPaths.tokenLedger);
  const fresh = ledger.filter(({ record }) => !published.has(record.id) && new Date(record.expiresAt) > clock.now());
  for (const { record } of fresh) {
    const { token, pool, issuedAt, expiresAt, issuedTo } = record;
    const life = { issuedAt: new Date(issuedAt), expiresAt: new Date(expiresAt) };
    const made = { token: new Secret(token), pool, ...life, ...(issuedTo === undefined ? {} : { address: issuedTo }) };
    await storeBootstrapToken(client, made).catch((error: unknown) => {
      if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
    });
    await note(files, record.id);
  }
  for (const entry of ledger) await publishKeysGiven(client, { files, entry, published });
  return fresh.length;
}

interface GivenKeys {
  readonly files: Files;
  readonly entry: LedgerEntry;
  readonly published: ReadonlySet<string>;
}

/** A machine may send the same token to a master's config server, which must know that the keys were given. */
async function publishKeysGiven(client: KubernetesClient, { files, entry, published }: GivenKeys): Promise<void> {
  const { record, keysGiven } = entry;
  const noted = `${record.id} keys-given`;
  if (keysGiven === undefined || published.has(noted)) return;
  const token = await findBootstrapToken(client, record.id);
  const given = { at: new Date(keysGiven.atMs), to: keysGiven.redemption };
  const isOver = token === undefined || token.keysGiven !== undefined;
  // If the token was changed in the meantime, `recordKeysGiven` returns false and the next call tries again.
  if (!isOver && !(await recordKeysGiven(client, token, { given }))) return;
  const { machine } = keysGiven;
  const to = {
    ...(machine === undefined ? {} : { machine }),
    ...(record.issuedTo === undefined ? {} : { address: record.issuedTo }),
  };
  await announceKeysGiven(client, { tokenId: record.id, at: given.at, ...to });
  await note(files, noted);
}

async function note(files: Files, line: string): Promise<void> {
  await using log = await files.openAppend(publishedFile, { mode: 0o600 });
  await log.append(`${line}\n`);
}
