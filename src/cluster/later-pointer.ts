// The pointer config of a machine that joins a running cluster as a master, or as a member of a pool of the user's own:
// master.ign or worker.ign with a pool token of its own. The token in master.ign ends after a day, and no file has one
// of a custom pool; this one ends after two hours, and the cluster gets its digest and nothing else.
import { join } from 'node:path';
import { poolTokenHeader, poolTokenHeaderValue } from '../admission/pool-token.ts';
import { machineConfigPoolKind, readPoolStatus } from '../contract/machine-config-pool.ts';
import type { Host } from '../host/host.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { serialize } from '../ignition/serialize.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { machineConfigErrors } from '../machine-config/errors.ts';
import { clusterErrors } from './errors.ts';
import { issuePoolTokens } from './issue-pool-tokens.ts';

const lifeMs = 2 * 3_600_000;

export interface LaterMachine {
  readonly host: Host;
  readonly dir: string;
  readonly client: KubernetesClient;
  /** master, or a pool that extends worker. */
  readonly pool: string;
  readonly signal: AbortSignal;
}

/** The config servers of the cluster accept its token when this returns. */
export async function laterPointer({ host, dir, client, pool, signal }: LaterMachine): Promise<Uint8Array> {
  const base = pool === 'master' ? 'master' : 'worker';
  const pointer = JSON.parse(await host.files.readText(join(dir, `${base}.ign`))) as IgnitionConfig;
  const [token = ''] = await issuePoolTokens({ host, client, pool, count: 1, lifeMs, signal });
  return Buffer.from(serialize(pointerTo(pool, { pointer, base, token })));
}

interface PointerParts {
  readonly pointer: IgnitionConfig;
  readonly base: string;
  readonly token: string;
}

/** What a person added to the file stays. */
export function pointerTo(pool: string, { pointer, base, token }: PointerParts): IgnitionConfig {
  const { ignition } = pointer;
  const header = { name: poolTokenHeader, value: poolTokenHeaderValue(token) };
  const merge = (ignition.config?.merge ?? []).map((source) => ({
    ...source,
    ...(source.source === undefined || source.source === null
      ? {}
      : { source: source.source.replace(new RegExp(`/config/${base}$`), `/config/${pool}`) }),
    ...(source.httpHeaders === undefined
      ? {}
      : { httpHeaders: source.httpHeaders.map((one) => (one.name === poolTokenHeader ? header : one)) }),
  }));
  return { ...pointer, ignition: { ...ignition, config: { ...ignition.config, merge } } };
}

/** Throws where no machine could ever join the pool: there is none of this name, or nothing can be served for it. */
export async function mustBeJoinable(client: KubernetesClient, pool: string, signal: AbortSignal): Promise<void> {
  if (pool === 'master') throw clusterErrors.POOL_NOT_JOINABLE({ pool, reason: 'masters are added by their names' });
  const { items } = await client.list(machineConfigPoolKind, {}, { signal });
  const found = items.find(({ metadata }) => metadata.name === pool);
  if (found === undefined && pool !== 'worker') {
    throw machineConfigErrors.POOL_UNKNOWN({ pool, pools: items.map(({ metadata }) => metadata.name) });
  }
  const { conditions } = readPoolStatus(found ?? {});
  const degraded = conditions.find(({ type, status }) => type === 'RenderDegraded' && status === 'True');
  if (degraded !== undefined) throw clusterErrors.POOL_NOT_JOINABLE({ pool, reason: degraded.message });
}
