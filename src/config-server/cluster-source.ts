// The source of a master: MachineConfigs, pools, the ControllerConfig and the digests of pool tokens come from the API
// by watch, the certificates of the signers from this master's disk. While the API does not answer, or an object in it
// cannot be used, the last good config of a pool is served.
import { dirname, join } from 'node:path';
import { type PoolTokenDigests, poolTokenDigestsSchema } from '../admission/pool-token.ts';
import { poolTokensSecret } from '../contract/cluster-objects.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubeconfig } from '../kubernetes/kubeconfig.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { watchTogether } from '../kubernetes/watch.ts';
import { type SourceObjects, sourceKinds } from '../machine-config/cluster-sources.ts';
import { kubeletKubeconfigOptions } from '../machine-config/kubelet-kubeconfig.ts';
import type { ControllerConfig, MachineConfig } from '../machine-config/machine-config.ts';
import { builtInPools } from '../machine-config/pools.ts';
import { needsProxyCredentials } from '../machine-software/proxy.ts';
import { joinBundle } from '../pki/certificate.ts';
import { type TrustBundleName, trustBundles } from '../pki/trust-bundles.ts';
import { type ClusterPools, clusterPools } from './cluster-pools.ts';
import type { ConfigSource, KubeletKubeconfig, ServedPool, SourceState, SourceWaiting } from './config-source.ts';
import { isServed, namedAmongPools, parseKubeletKubeconfig, readPullSecret } from './config-source.ts';
import { followFiles } from './follow-files.ts';

export interface ClusterSourceOptions {
  readonly client: KubernetesClient;
  /** Where the certificates of the signers are. */
  readonly pkiFolder: string;
  /** The proxy's user and password, as this master has them; read where a pool needs them. */
  readonly proxyCredentialsPath: string;
  /** Credentials for registries, as this master's own kubelet uses them; missing where the cluster has none. */
  readonly pullSecretPath: string;
  /** The program and its version, for an annotation of rendered configs. */
  readonly generatedBy: string;
  /** Without digests of pool tokens no machine could be let in: then no pool is served. */
  readonly needsPoolTokens: boolean;
  /** Called once for every problem, when it appears. */
  readonly onProblem: (problem: string) => void;
}

/** Resolves before the API has answered; until then every pool waits. */
export async function openClusterSource(host: Host, options: ClusterSourceOptions): Promise<ConfigSource> {
  const source = new ClusterSource(host, options);
  await source.start();
  return source;
}

/** From this master's own disk. */
interface LocalFiles {
  readonly apiserverCaPem: string;
  readonly kubeletClientCaPem: string;
  readonly proxyCredentials: string | undefined;
  readonly pullSecret: string | undefined;
}

type Seen = SourceObjects & { readonly poolTokens: readonly KubernetesObject[] };

class ClusterSource implements ConfigSource {
  readonly #host: Host;
  readonly #options: ClusterSourceOptions;
  readonly #end = new AbortController();
  readonly #reported = new Set<string>();
  #following: readonly (() => PromiseLike<void>)[] = [];
  #local: LocalFiles | SourceWaiting = { status: 'waiting', missing: 'the keys of this master have not been read yet' };
  #cluster: ClusterPools | undefined;
  #trouble = 'nothing has been listed yet';
  /** What was asked for by name, as long as nothing has changed: a config is built once. */
  readonly #named = new Map<string, ServedPool | SourceWaiting>();
  #state: SourceState = { pools: new Map(), poolTokens: {}, problems: [] };

  constructor(host: Host, options: ClusterSourceOptions) {
    this.#host = host;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { pkiFolder, proxyCredentialsPath, pullSecretPath } = this.#options;
    const files = await followFiles(this.#host, {
      folders: [pkiFolder, dirname(proxyCredentialsPath), dirname(pullSecretPath)],
      look: async () => {
        this.#local = await this.#readLocal();
        this.#update();
      },
    });
    const watching = this.#watch();
    this.#following = [() => files[Symbol.asyncDispose](), () => watching];
  }

  current(): SourceState {
    return this.#state;
  }

  named(pool: string, config: string): ServedPool | SourceWaiting | undefined {
    const current = namedAmongPools(this.#state, pool, config);
    const cluster = this.#cluster;
    const found = current === undefined ? cluster?.named(pool, config) : undefined;
    if (cluster === undefined || found === undefined) return current;
    const served = this.#named.get(config) ?? this.#served(pool, found, cluster);
    this.#named.set(config, served);
    return served;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the source has ended'));
    for (const end of this.#following) await end();
  }

  async #watch(): Promise<void> {
    const { client } = this.#options;
    const { signal } = this.#end;
    const { namespace, name } = poolTokensSecret;
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    const sources = { ...sourceKinds, poolTokens: { kind: { apiVersion: 'v1', kind: 'Secret' }, selection } };
    const onTrouble = (error: FirstlightError): void => {
      this.#trouble = error.message;
      this.#update();
    };
    try {
      for await (const seen of watchTogether({ client, host: this.#host, signal, onTrouble }, sources))
        this.#take(seen);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #take({ poolTokens: [secret], ...objects }: Seen): void {
    this.#cluster = clusterPools(objects, this.#options.generatedBy);
    this.#trouble = '';
    const { digests, missing } = readDigests(secret);
    this.#update(digests, missing);
  }

  #update(digests?: PoolTokenDigests, missingDigests?: string): void {
    const before = this.#state;
    const poolTokens = digests ?? before.poolTokens;
    const areTokensMissing = this.#options.needsPoolTokens && Object.keys(poolTokens).length === 0;
    const problems = new Set<string>([this.#trouble, missingDigests ?? ''].filter((problem) => problem !== ''));
    const pools = new Map<string, ServedPool | SourceWaiting>();
    for (const [pool, found] of this.#pools()) {
      if (!isServed(found)) problems.add(found.missing);
      const last = before.pools.get(pool);
      const missing = missingDigests ?? `Secret ${poolTokensSecret.name} is not known yet`;
      if (isServed(found)) pools.set(pool, areTokensMissing ? { status: 'waiting', missing } : found);
      else pools.set(pool, isServed(last) ? last : found);
    }
    this.#state = { pools, poolTokens, problems: [...problems] };
    this.#named.clear();
    this.#report(problems);
  }

  #report(problems: ReadonlySet<string>): void {
    for (const problem of problems) if (!this.#reported.has(problem)) this.#options.onProblem(problem);
    this.#reported.clear();
    for (const problem of problems) this.#reported.add(problem);
  }

  #pools(): ReadonlyMap<string, ServedPool | SourceWaiting> {
    const cluster = this.#cluster;
    if (cluster === undefined) {
      const missing = `the API at ${this.#options.client.server} to say what machines get: ${this.#trouble}`;
      return new Map(builtInPools.map(({ metadata }) => [metadata.name, { status: 'waiting', missing } as const]));
    }
    return new Map([...cluster.pools].map(([pool, found]) => [pool, this.#served(pool, found, cluster)] as const));
  }

  #served(
    pool: string,
    found: MachineConfig | SourceWaiting,
    { controllerConfig }: ClusterPools,
  ): ServedPool | SourceWaiting {
    const local = this.#local;
    if ('status' in found) return found;
    if ('status' in local) return local;
    if (controllerConfig === undefined) return { status: 'waiting', missing: 'the API has no ControllerConfig yet' };
    const { kubeletClientCaPem, proxyCredentials, pullSecret } = local;
    const needsProxy = needsProxyCredentials(found.spec.config);
    // A machine that cannot pass its proxy could pull no image: it waits for its config instead.
    if (needsProxy && proxyCredentials === undefined) {
      return { status: 'waiting', missing: `${this.#options.proxyCredentialsPath} is not there` };
    }
    return {
      pool,
      machineConfig: found,
      kubeconfig: kubeconfigOf(controllerConfig, local.apiserverCaPem),
      kubeletClientCaPem,
      ...(needsProxy && proxyCredentials !== undefined ? { proxyCredentials } : {}),
      ...(pullSecret === undefined ? {} : { pullSecret }),
    };
  }

  async #readLocal(): Promise<LocalFiles | SourceWaiting> {
    const { proxyCredentialsPath, pullSecretPath } = this.#options;
    try {
      const [apiserverCaPem, kubeletClientCaPem, proxyCredentials, pullSecret] = await Promise.all([
        this.#bundle('apiserver-ca'),
        this.#bundle('kubelet-client-ca'),
        this.#textIfPresent(proxyCredentialsPath),
        this.#pullSecret(pullSecretPath),
      ]);
      return { apiserverCaPem, kubeletClientCaPem, proxyCredentials, pullSecret };
    } catch (error) {
      return { status: 'waiting', missing: error instanceof Error ? error.message : String(error) };
    }
  }

  async #pullSecret(path: string): Promise<string | undefined> {
    const text = await this.#textIfPresent(path);
    if (text !== undefined && readPullSecret(text) === undefined) throw new Error(`${path} cannot be used: not JSON`);
    return text;
  }

  async #textIfPresent(path: string): Promise<string | undefined> {
    const bytes = await this.#host.files.readIfPresent(path);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
  }

  async #bundle(name: TrustBundleName): Promise<string> {
    const { files } = this.#host;
    const paths = trustBundles[name].signers.map((signer) => join(this.#options.pkiFolder, `${signer}.crt`));
    return joinBundle(await Promise.all(paths.map((path) => files.readText(path))));
  }
}

function kubeconfigOf({ spec }: ControllerConfig, caPem: string): KubeletKubeconfig {
  const clusterName = spec.controlPlane?.clusterName ?? 'cluster';
  const text = kubeconfig(kubeletKubeconfigOptions({ clusterName, server: spec.apiServerInternalURL, caPem }));
  const read = parseKubeletKubeconfig(text);
  if (read === undefined) throw new Error('the kubeconfig of kubelets is none');
  return read;
}

function readDigests(secret: KubernetesObject | undefined): {
  readonly digests?: PoolTokenDigests;
  readonly missing?: string;
} {
  const { name, namespace, key } = poolTokensSecret;
  if (secret === undefined) return { missing: `Secret ${namespace}/${name}, by which machines are let in, is missing` };
  try {
    const data = secret['data'] as Readonly<Record<string, string>> | undefined;
    const text = Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
    return { digests: poolTokenDigestsSchema.parse(JSON.parse(text)) };
  } catch {
    return { missing: `Secret ${namespace}/${name} cannot be used: ${key} holds no digests of pool tokens` };
  }
}
