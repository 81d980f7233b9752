// Turns the tokens that the config server gave out before there was an API into Secrets that the API knows. What was
// published is noted, because a token that has done its work is deleted there and must not come back.
import { isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { Secret } from '../host/secret.ts';
import { storeBootstrapToken } from '../kubernetes/bootstrap-token.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { readTokenLedger } from '../machine-config/server/token-ledger.ts';
import { configServerPaths } from '../node-software/machine-paths.ts';

const publishedFile = `${configServerPaths.tokenLedger}.published`;

/** Publishes what is new; returns how many. */
export async function publishTokens(host: Host, client: KubernetesClient): Promise<number> {
  const { files, clock } = host;
  const noted = await files.readIfPresent(publishedFile);
  const published = new Set(
    Buffer.from(noted ?? '')
      .toString('utf8')
      .split('\n'),
  );
  const fresh = (await readTokenLedger(files, configServerPaths.tokenLedger)).filter(
    ({ record }) => !published.has(record.id) && new Date(record.expiresAt) > clock.now(),
  );
  for (const { record } of fresh) {
    const { token, pool, issuedAt, expiresAt, issuedTo } = record;
    const life = { issuedAt: new Date(issuedAt), expiresAt: new Date(expiresAt) };
    const made = { token: new Secret(token), pool, ...life, ...(issuedTo === undefined ? {} : { address: issuedTo }) };
    await storeBootstrapToken(client, made).catch((error: unknown) => {
      if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
    });
    await using log = await files.openAppend(publishedFile, { mode: 0o600 });
    await log.append(`${record.id}\n`);
  }
  return fresh.length;
}
