// New pool tokens of a running cluster: each opens the configuration of one pool until its time is over. The cluster
// gets the digest and nothing else.
import { digestToken } from '../admission/bootstrap-token.ts';
import { poolToken, poolTokenDigestsSchema } from '../admission/pool-token.ts';
import { poolTokensSecret } from '../contract/cluster-objects.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';

export interface IssuedPoolTokens {
  readonly host: Pick<Host, 'clock' | 'random'>;
  readonly client: KubernetesClient;
  readonly pool: string;
  readonly count: number;
  readonly lifeMs: number;
  readonly signal: AbortSignal;
}

/** The config servers of the cluster accept them when this returns. */
export async function issuePoolTokens(issue: IssuedPoolTokens): Promise<readonly string[]> {
  const { host, client, pool, count, lifeMs, signal } = issue;
  const tokens = Array.from({ length: count }, () => poolToken(host.random.bytes(32), pool));
  const { name, namespace, key } = poolTokensSecret;
  const reference = { apiVersion: 'v1', kind: 'Secret', name, namespace };
  const secret = await client.get(reference, { signal });
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const digests = poolTokenDigestsSchema.parse(JSON.parse(Buffer.from(data[key] ?? '', 'base64').toString('utf8')));
  const now = host.clock.now();
  const alive = (digests[pool] ?? []).filter(({ notAfter }) => Date.parse(notAfter) > now.getTime());
  const notAfter = new Date(now.getTime() + lifeMs).toISOString();
  const added = tokens.map((token) => ({ sha256: digestToken(token), notAfter }));
  const text = `${JSON.stringify({ ...digests, [pool]: [...added, ...alive] }, null, 2)}\n`;
  const { resourceVersion } = secret.metadata;
  await client.mergePatch(
    reference,
    { metadata: { resourceVersion }, data: { [key]: Buffer.from(text).toString('base64') } },
    { signal },
  );
  return tokens;
}
