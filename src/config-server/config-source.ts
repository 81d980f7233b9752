// Where the server's answers come from: files on the bootstrap machine, the API on masters. A source keeps one plain
// value of what it knows and replaces it as a whole, so that a request never sees half of a change and never waits for
// a disk or a watch.
import { z } from 'zod';
import type { PoolTokenDigests } from '../admission/pool-token.ts';
import type { MachineConfig } from '../machine-config/machine-config.ts';

/** A pool that can be served. */
export interface ServedPool {
  readonly pool: string;
  /** The rendered one, with a valid Ignition config. */
  readonly machineConfig: MachineConfig;
  /** A kubeconfig without a credential; each machine gets it with a token of its own. */
  readonly kubeconfig: KubeletKubeconfig;
  /** The CA of clients that call the kubelet. */
  readonly kubeletClientCaPem: string;
  /** The file with the proxy's user and password, where machines of the pool need it. */
  readonly proxyCredentials?: string;
  /** The file with credentials for registries, where the cluster has any. */
  readonly pullSecret?: string;
}

export interface SourceWaiting {
  readonly status: 'waiting';
  /** One sentence: what is missing. */
  readonly missing: string;
}

export interface SourceState {
  readonly pools: ReadonlyMap<string, ServedPool | SourceWaiting>;
  /** Empty until they have been read: then no machine is let in. */
  readonly poolTokens: PoolTokenDigests;
  /** What a person should correct although the server goes on: one sentence each. */
  readonly problems: readonly string[];
}

export interface ConfigSource extends AsyncDisposable {
  current(): SourceState;
  /** A rendered config of the pool by its name, for a machine that asks for that one; undefined where there is none. */
  named(pool: string, config: string): ServedPool | SourceWaiting | undefined;
}

/** Of a source that has one config for each pool. */
export function namedAmongPools({ pools }: SourceState, pool: string, config: string): ServedPool | undefined {
  const served = pools.get(pool);
  return isServed(served) && served.machineConfig.metadata.name === config ? served : undefined;
}

export const nothingKnown: SourceState = { pools: new Map(), poolTokens: {}, problems: ['nothing has been read yet'] };

export function isServed(state: ServedPool | SourceWaiting | undefined): state is ServedPool {
  return state !== undefined && !('status' in state);
}

const reference = z
  .object({ name: z.string().nullish() })
  .nullish()
  .transform((given) => given?.name ?? '');
const poolObject = z.object({
  metadata: z.object({ name: z.string().min(1) }),
  spec: z.object({ configuration: reference }).nullish(),
  status: z.object({ configuration: reference, updatedMachineCount: z.number().nullish() }).nullish(),
});

/**
 * The rendered config that a new machine of a pool gets: the target once a machine of the pool runs it, until then the
 * last one that all of them had. A new pool has only its target.
 */
export function chosenConfig(pool: unknown): { readonly pool: string; readonly config: string } | undefined {
  const read = poolObject.safeParse(pool);
  if (!read.success) return undefined;
  const { metadata, spec, status } = read.data;
  const [target, rolledOut] = [spec?.configuration ?? '', status?.configuration ?? ''];
  const isProven = (status?.updatedMachineCount ?? 0) > 0;
  return { pool: metadata.name, config: (isProven ? target : rolledOut) || target };
}

const kubeconfigSchema = z.looseObject({
  clusters: z.array(z.looseObject({ name: z.string(), cluster: z.looseObject({ server: z.url() }) })).length(1),
  users: z.array(z.looseObject({ name: z.string() })).length(1),
});
export type KubeletKubeconfig = z.output<typeof kubeconfigSchema>;

export function parseKubeletKubeconfig(value: unknown): KubeletKubeconfig | undefined {
  return kubeconfigSchema.safeParse(value).data;
}

/** The text as it is; undefined if it is not JSON. The parser's message is dropped: it would quote the secret. */
export function readPullSecret(text: string): string | undefined {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}
