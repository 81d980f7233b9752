// The pointer config of a master that joins a running cluster: master.ign with a pool token of its own. The token in
// master.ign ends after a day, and this one after two hours; the cluster gets its digest and nothing else.
import { join } from 'node:path';
import { digestToken } from '../admission/bootstrap-token.ts';
import { poolToken, poolTokenDigestsSchema, poolTokenHeader, poolTokenHeaderValue } from '../admission/pool-token.ts';
import { poolTokensSecret } from '../contract/cluster-objects.ts';
import type { Host } from '../host/host.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { serialize } from '../ignition/serialize.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';

const lifeMs = 2 * 3_600_000;

export interface LaterMaster {
  readonly host: Host;
  readonly dir: string;
  readonly client: KubernetesClient;
  readonly signal: AbortSignal;
}

/** The config servers of the cluster accept its token when this returns. */
export async function laterMasterPointer({ host, dir, client, signal }: LaterMaster): Promise<Uint8Array> {
  const pointer = JSON.parse(await host.files.readText(join(dir, 'master.ign'))) as IgnitionConfig;
  const token = poolToken(host.random.bytes(32), 'master');
  const { name, namespace, key } = poolTokensSecret;
  const reference = { apiVersion: 'v1', kind: 'Secret', name, namespace };
  const secret = await client.get(reference, { signal });
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const digests = poolTokenDigestsSchema.parse(JSON.parse(Buffer.from(data[key] ?? '', 'base64').toString('utf8')));
  const now = host.clock.now();
  const alive = (digests['master'] ?? []).filter(({ notAfter }) => Date.parse(notAfter) > now.getTime());
  const added = { sha256: digestToken(token), notAfter: new Date(now.getTime() + lifeMs).toISOString() };
  const text = `${JSON.stringify({ ...digests, master: [added, ...alive] }, null, 2)}\n`;
  const { resourceVersion } = secret.metadata;
  await client.mergePatch(
    reference,
    { metadata: { resourceVersion }, data: { [key]: Buffer.from(text).toString('base64') } },
    { signal },
  );
  return Buffer.from(serialize(withToken(pointer, token)));
}

/** What a person added to master.ign stays. */
function withToken(pointer: IgnitionConfig, token: string): IgnitionConfig {
  const { ignition } = pointer;
  const header = { name: poolTokenHeader, value: poolTokenHeaderValue(token) };
  const merge = (ignition.config?.merge ?? []).map((source) => ({
    ...source,
    ...(source.httpHeaders === undefined
      ? {}
      : { httpHeaders: source.httpHeaders.map((one) => (one.name === poolTokenHeader ? header : one)) }),
  }));
  return { ...pointer, ignition: { ...ignition, config: { ...ignition.config, merge } } };
}
