// Where knowledge comes from, each source with its fallback, in the order of the seed: the cluster first, the
// installer's files second. A cluster that answers nonsense is treated like one that does not answer.
import { type ClusterApi, openClusterApi } from './cluster-api.ts';
import type { TorcxContext } from './context.ts';
import { bareReasonOf, nodePaths, reasonOf } from './context.ts';
import { readImageTag } from './env-file.ts';
import { torcxErrors } from './errors.ts';
import { checkKubeVersion, minorOf, tagOf, versionOfTag } from './kube-version.ts';
import { parseOsRelease, type RunningOs } from './os-release.ts';
import { dockerVersionsFor } from './runtime-mappings.ts';

export interface Known<T> {
  readonly value: T;
  readonly from: string;
  /** Better sources that were asked before, and why they did not do. */
  readonly instead: readonly string[];
}

const mappingsConfigMap = 'tectonic-torcx-runtime-mappings';
const mappingsKey = 'runtime-mappings.yaml';

export async function readRunningOs(context: TorcxContext): Promise<Known<RunningOs>> {
  const text = await readInput(context, nodePaths.osRelease);
  const value = parseOsRelease(nodePaths.osRelease, text, context.host.environment.architecture);
  if (value.boardGuessedFrom !== undefined) {
    context.say(
      'warn',
      `${nodePaths.osRelease} states no COREOS_BOARD; ${value.board} goes with ${value.boardGuessedFrom}`,
    );
  }
  return { value, from: nodePaths.osRelease, instead: [] };
}

/** A text file that must be there. Throws TORCX_INPUT. */
export async function readInput({ host, at }: TorcxContext, path: string): Promise<string> {
  return host.files.readText(at(path)).catch((error: unknown) => {
    throw torcxErrors.INPUT({ path, reason: bareReasonOf(error) }, { cause: error });
  });
}

export interface ClusterKnowledge {
  readonly kubernetes: Known<string>;
  /** Undefined where no add-on will be chosen. */
  readonly preferences: Known<readonly string[]> | undefined;
}

/** The API server's two answers are fetched side by side; the version decides which entry of the mappings counts. */
export async function askCluster(context: TorcxContext, needsMappings: boolean): Promise<ClusterKnowledge> {
  const { settings } = context;
  const asksCluster = settings.role === 'bootstrap';
  const asksVersion = asksCluster && settings.forcedKubeVersion === undefined;
  const asksMappings = asksCluster && needsMappings;
  using api = asksVersion || asksMappings ? await openApi(context) : undefined;
  const [version, mappings] = await Promise.all([
    asksVersion ? ask(api, (server) => server.version().then(checkKubeVersion)) : undefined,
    asksMappings
      ? ask(api, (server) => server.configMapValue(settings.mappingsNamespace, mappingsConfigMap, mappingsKey))
      : undefined,
  ]);
  context.signal.throwIfAborted();
  const kubernetes = await kubeVersion(context, version);
  const minor = needsMappings ? minorOf(kubernetes.value) : '';
  const preferences = needsMappings ? await dockerVersions(context, minor, mappings) : undefined;
  return { kubernetes, preferences };
}

/** An answer of the cluster, or why there is none. */
type Asked = { readonly value: string; readonly from: string } | { readonly failure: string };

/** Takes the place of an API server that cannot be asked. */
type Unusable = Disposable & { readonly failure: string };

async function openApi(context: TorcxContext): Promise<ClusterApi | Unusable> {
  return openClusterApi(context).catch((error: unknown) => ({ failure: reasonOf(error), [Symbol.dispose]: () => {} }));
}

async function ask(
  api: ClusterApi | Unusable | undefined,
  question: (api: ClusterApi) => Promise<string>,
): Promise<Asked> {
  if (api === undefined || 'failure' in api) return api ?? { failure: 'not asked' };
  try {
    return { value: await question(api), from: api.server };
  } catch (error) {
    return { failure: reasonOf(error) };
  }
}

async function kubeVersion(context: TorcxContext, asked: Asked | undefined): Promise<Known<string>> {
  const { settings } = context;
  if (settings.forcedKubeVersion !== undefined) {
    tagOf(settings.forcedKubeVersion);
    return { value: settings.forcedKubeVersion, from: '--force-kube-version', instead: [] };
  }
  if (asked !== undefined && 'value' in asked) {
    return { value: asked.value, from: `${asked.from}/version`, instead: [] };
  }
  const instead = asked === undefined ? [] : [`/version: ${asked.failure}`];
  for (const text of instead) context.say('warn', `${text}; the local file decides`);
  const path = settings.role === 'hook' ? nodePaths.kubeletEnv : nodePaths.installerKubeletEnv;
  const content = await context.host.files.readIfPresent(context.at(path));
  const tag = content === undefined ? undefined : readImageTag(Buffer.from(content).toString('utf8'));
  if (tag === undefined || tag === '') {
    const local = content === undefined ? `${path} is not there` : `${path} has no KUBELET_IMAGE_TAG`;
    throw torcxErrors.KUBE_VERSION_UNKNOWN({ tried: [...instead, local] });
  }
  const value = versionOfTag(tag);
  tagOf(value);
  return { value, from: path, instead };
}

async function dockerVersions(
  context: TorcxContext,
  minor: string,
  asked: Asked | undefined,
): Promise<Known<readonly string[]>> {
  const { mappingsNamespace, versionManifest } = context.settings;
  const name = `ConfigMap ${mappingsNamespace}/${mappingsConfigMap}`;
  let failure = asked !== undefined && 'failure' in asked ? asked.failure : undefined;
  if (asked !== undefined && 'value' in asked) {
    try {
      return { value: dockerVersionsFor(minor, asked.value, name), from: name, instead: [] };
    } catch (error) {
      failure = bareReasonOf(error);
    }
  }
  const instead = failure === undefined ? [] : [`${name}: ${failure}`];
  for (const text of instead) context.say('warn', `${text}; the local file decides`);
  const text = await readInput(context, versionManifest);
  return { value: dockerVersionsFor(minor, text, versionManifest), from: versionManifest, instead };
}
