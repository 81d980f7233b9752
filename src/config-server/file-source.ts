// The source of the bootstrap machine: rendered configs, pool tokens and a kubeconfig in files. All of them are read
// again when a folder changes and every few seconds. A file that cannot be read, such as a half written one, changes
// nothing: its last good content is served. A file that is gone is no longer served.
import { basename, dirname, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { poolTokenDigestsSchema } from '../admission/pool-token.ts';
import type { Host } from '../host/host.ts';
import type { MachineConfig } from '../machine-config/machine-config.ts';
import { readObjects } from '../machine-config/read-objects.ts';
import { needsProxyCredentials } from '../machine-software/proxy.ts';
import { joinBundle } from '../pki/certificate.ts';
import { trustBundles } from '../pki/trust-bundles.ts';
import { readDocuments } from '../source-text/documents.ts';
import { mistakeText } from '../source-text/mistake.ts';
import type { ConfigSource, KubeletKubeconfig, ServedPool, SourceState, SourceWaiting } from './config-source.ts';
import {
  chosenConfig,
  namedAmongPools,
  nothingKnown,
  parseKubeletKubeconfig,
  readPullSecret,
} from './config-source.ts';
import { followFiles } from './follow-files.ts';

export interface FileSourceOptions {
  /** With machine-pools/ and machine-configs/, as `machine-config render --to` writes them. */
  readonly renderedFolder: string;
  readonly poolTokensPath: string;
  readonly kubeconfigPath: string;
  /** Where the certificates of the signers are. */
  readonly pkiFolder: string;
  /** The proxy's user and password; read where a pool needs them. */
  readonly proxyCredentialsPath: string;
  /** Credentials for registries; missing where the cluster has none. */
  readonly pullSecretPath: string;
  /** Called once for every problem, when it appears. */
  readonly onProblem: (problem: string) => void;
}

export async function openFileSource(host: Host, options: FileSourceOptions): Promise<ConfigSource> {
  const folders = ['machine-pools', 'machine-configs'].map((name) => join(options.renderedFolder, name));
  const reader = new FileReader(host, options);
  let state = nothingKnown;
  const look = async (): Promise<void> => {
    const next = await reader.read();
    for (const problem of next.problems) if (!state.problems.includes(problem)) options.onProblem(problem);
    state = next;
  };
  const { poolTokensPath, kubeconfigPath, proxyCredentialsPath, pullSecretPath } = options;
  const others = [poolTokensPath, kubeconfigPath, proxyCredentialsPath, pullSecretPath].map((path) => dirname(path));
  const following = await followFiles(host, { folders: [...folders, ...others, options.pkiFolder], look });
  return {
    current: () => state,
    named: (pool, config) => namedAmongPools(state, pool, config),
    [Symbol.asyncDispose]: () => following[Symbol.asyncDispose](),
  };
}

interface Common {
  readonly kubeconfig: KubeletKubeconfig;
  readonly kubeletClientCaPem: string;
  readonly pullSecret?: string;
}

type Read<T> = { readonly value: T } | SourceWaiting;

class FileReader {
  readonly #host: Host;
  readonly #options: FileSourceOptions;
  /** The last good reading of each file, by path; a file that is unchanged is not parsed again. */
  readonly #good = new Map<string, { readonly bytes: Buffer; readonly value: unknown }>();
  #problems: string[] = [];

  constructor(host: Host, options: FileSourceOptions) {
    this.#host = host;
    this.#options = options;
  }

  async read(): Promise<SourceState> {
    this.#problems = [];
    const { poolTokensPath, renderedFolder } = this.#options;
    const tokens = await this.#file(poolTokensPath, (text) => poolTokenDigestsSchema.parse(JSON.parse(text)));
    const common = await this.#common();
    const pools = new Map<string, ServedPool | SourceWaiting>();
    const folder = join(renderedFolder, 'machine-pools');
    for (const name of (await this.#host.files.list(folder)) ?? []) {
      if (!/^[^.].*\.(ya?ml|json)$/.test(name)) continue;
      const pool = await this.#file(join(folder, name), (text) => chosenConfig(parseYaml(text)) ?? fail('not a pool'));
      if (!('value' in pool)) pools.set(basename(name).replace(/\.[a-z]+$/, ''), pool);
      else pools.set(pool.value.pool, await this.#pool(pool.value, common));
    }
    return {
      pools,
      poolTokens: 'value' in tokens ? tokens.value : {},
      problems: this.#problems,
    };
  }

  async #pool(
    chosen: { readonly pool: string; readonly config: string },
    common: Read<Common>,
  ): Promise<ServedPool | SourceWaiting> {
    const { pool, config } = chosen;
    if (!/^[a-z0-9][a-z0-9.-]*$/.test(config)) return this.#waiting(`pool ${pool} names no rendered config`);
    const path = join(this.#options.renderedFolder, 'machine-configs', `${config}.yaml`);
    const machineConfig = await this.#file(path, (text) => readRendered(path, text));
    if (!('value' in machineConfig)) return machineConfig;
    if (!('value' in common)) return common;
    const secret = await this.#proxyCredentials(machineConfig.value);
    if (!('value' in secret)) return secret;
    return { pool, machineConfig: machineConfig.value, ...common.value, ...secret.value };
  }

  /** A machine that cannot pass its proxy could pull no image: it waits for its config instead. */
  async #proxyCredentials({ spec }: MachineConfig): Promise<Read<Pick<ServedPool, 'proxyCredentials'>>> {
    if (!needsProxyCredentials(spec.config)) return { value: {} };
    const read = await this.#file(this.#options.proxyCredentialsPath, (text) => text);
    return 'value' in read ? { value: { proxyCredentials: read.value } } : read;
  }

  async #common(): Promise<Read<Common>> {
    const { kubeconfigPath, pkiFolder, pullSecretPath } = this.#options;
    const kubeconfig = await this.#file(
      kubeconfigPath,
      (text) => parseKubeletKubeconfig(parseYaml(text)) ?? fail('not a kubeconfig'),
    );
    if (!('value' in kubeconfig)) return kubeconfig;
    const pems: string[] = [];
    for (const signer of trustBundles['kubelet-client-ca'].signers) {
      const pem = await this.#file(join(pkiFolder, `${signer}.crt`), (text) => joinBundle([text]));
      if (!('value' in pem)) return pem;
      pems.push(pem.value);
    }
    const secret = await this.#file<Pick<Common, 'pullSecret'>>(
      pullSecretPath,
      (text) => ({ pullSecret: readPullSecret(text) ?? fail('not JSON') }),
      {},
    );
    if (!('value' in secret)) return secret;
    return { value: { kubeconfig: kubeconfig.value, kubeletClientCaPem: joinBundle(pems), ...secret.value } };
  }

  /** `absent`: the value where the file is not there; without it the pool waits for the file. */
  async #file<T>(path: string, parse: (text: string) => T, absent?: T): Promise<Read<T>> {
    const good = this.#good.get(path);
    try {
      const content = await this.#host.files.readIfPresent(path);
      if (content === undefined) {
        this.#good.delete(path);
        return absent === undefined ? this.#waiting(`${path} is not there yet`) : { value: absent };
      }
      const bytes = Buffer.from(content);
      if (good?.bytes.equals(bytes) === true) return { value: good.value as T };
      const value = parse(bytes.toString('utf8'));
      this.#good.set(path, { bytes, value });
      return { value };
    } catch (error) {
      const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
      const waiting = this.#waiting(`${path} cannot be used: ${reason}`);
      return good === undefined ? waiting : { value: good.value as T };
    }
  }

  #waiting(missing: string): SourceWaiting {
    if (!this.#problems.includes(missing)) this.#problems.push(missing);
    return { status: 'waiting', missing };
  }
}

/** The one MachineConfig of a file, checked as it was when it was rendered. */
function readRendered(path: string, text: string): MachineConfig {
  const read = readDocuments(path, text);
  const { machineConfigs, mistakes } = readObjects(read.documents);
  const wrong = [...read.mistakes, ...mistakes].find(({ severity }) => severity === 'error');
  if (wrong !== undefined) return fail(mistakeText(wrong));
  return machineConfigs.length === 1 && machineConfigs[0] !== undefined
    ? machineConfigs[0]
    : fail('no MachineConfig in it');
}

function fail(reason: string): never {
  throw new Error(reason);
}
