// The sources of facts and their fallbacks, in the order of the original: first the cluster, then the installer's
// files. A cluster with an unusable answer counts as one that does not answer.
import { basename } from 'node:path';
import { torcxMappings, torcxMappingsKeys } from '../contract/cluster-objects.ts';
import { type ClusterApi, openClusterApi } from './cluster-api.ts';
import { bareReasonOf, nodePaths, reasonOf, type TorcxContext } from './context.ts';
import { readImageTag } from './env-file.ts';
import { torcxErrors } from './errors.ts';
import {
  checkKubeVersion,
  dockerVersionsFor,
  imageTagOf,
  kubernetesMinorOf,
  versionOfImageTag,
} from './kubernetes-version.ts';
import { parseOsRelease, type RunningOs } from './operating-system.ts';
import { addOnName } from './pick-version.ts';
import { parseProfile } from './profile.ts';
import { vendorReference } from './stores.ts';

export interface Known<T> {
  readonly value: T;
  readonly from: string;
  /** Preferred sources that were tried first, and why each was not used. */
  readonly instead: readonly string[];
}

export async function readRunningOs(context: TorcxContext): Promise<Known<RunningOs>> {
  const text = await readInput(context, nodePaths.osRelease);
  const value = parseOsRelease(nodePaths.osRelease, text, context.host.environment.architecture);
  if (value.hasTorcx && value.boardGuessedFrom !== undefined) {
    context.say(
      'warn',
      `${nodePaths.osRelease} states no COREOS_BOARD; ${value.board} goes with ${value.boardGuessedFrom}`,
    );
  }
  return { value, from: nodePaths.osRelease, instead: [] };
}

/** Reads a text file; throws TORCX_INPUT if it is missing. */
export async function readInput({ host, at }: TorcxContext, path: string): Promise<string> {
  return host.files.readText(at(path)).catch((error: unknown) => {
    throw torcxErrors.INPUT({ path, reason: bareReasonOf(error) }, { cause: error });
  });
}

export interface ClusterKnowledge {
  readonly kubernetes: Known<string>;
  /** Undefined if no add-on will be chosen. */
  readonly preferences: Known<readonly string[]> | undefined;
}

/** Asks the API server for the version and the mappings in parallel; the version selects the entry of the mappings. */
export async function askCluster(context: TorcxContext, needsMappings: boolean): Promise<ClusterKnowledge> {
  const { settings } = context;
  const asksCluster = settings.role === 'bootstrap';
  const asksVersion = asksCluster && settings.forcedKubeVersion === undefined;
  const asksMappings = asksCluster && needsMappings;
  using api = asksVersion || asksMappings ? await openApi(context) : undefined;
  const [version, mappings] = await Promise.all([
    asksVersion ? ask(api, (server) => server.version().then(checkKubeVersion)) : undefined,
    asksMappings
      ? ask(api, (server) =>
          server.configMapValue(settings.mappingsNamespace, torcxMappings.name, torcxMappingsKeys.mappings),
        )
      : undefined,
  ]);
  context.signal.throwIfAborted();
  const kubernetes = await kubeVersion(context, version);
  const minor = needsMappings ? kubernetesMinorOf(kubernetes.value) : '';
  const preferences = needsMappings ? await dockerVersions(context, minor, mappings) : undefined;
  return { kubernetes, preferences };
}

/** An answer of the cluster, or why there is none. */
type Asked = { readonly value: string; readonly from: string } | { readonly failure: string };

/** Stands for an API server whose kubeconfig cannot be used. */
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
    imageTagOf(settings.forcedKubeVersion);
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
  const value = versionOfImageTag(tag);
  imageTagOf(value);
  return { value, from: path, instead };
}

async function dockerVersions(
  context: TorcxContext,
  minor: string,
  asked: Asked | undefined,
): Promise<Known<readonly string[]>> {
  const { mappingsNamespace, versionManifest } = context.settings;
  const name = `ConfigMap ${mappingsNamespace}/${torcxMappings.name}`;
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

export type RunningDocker =
  | { readonly status: 'known'; readonly reference: string }
  | { readonly status: 'unknown'; readonly because: string };

/** The docker version that torcx unpacked at boot. The caller treats `unknown` as another version. */
export async function readRunningDocker(context: TorcxContext): Promise<RunningDocker> {
  const { host, at } = context;
  const unknown = (because: string): RunningDocker => ({ status: 'unknown', because });
  const content = await host.files.readIfPresent(at(nodePaths.runningProfile));
  if (content === undefined) return unknown(`${nodePaths.runningProfile} is not there`);
  let reference: string | undefined;
  try {
    const { images } = parseProfile(Buffer.from(content).toString('utf8'));
    reference = images.find((image) => image.name === addOnName)?.reference;
  } catch {
    return unknown(`${nodePaths.runningProfile} is not a profile`);
  }
  if (reference === undefined || reference === '') return unknown('no docker was unpacked at boot');
  if (reference !== vendorReference) return { status: 'known', reference };
  const aliased = await aliasTarget(context);
  return aliased === undefined
    ? unknown(`the vendor's alias ${vendorReference} does not lead to a version`)
    : { status: 'known', reference: aliased };
}

/** `docker:com.coreos.cl.torcx.tgz` is a link to the archive of the OS's default version. */
async function aliasTarget({ host, at }: TorcxContext): Promise<string | undefined> {
  const link = at(`${nodePaths.vendorStore}/${addOnName}:${vendorReference}.torcx.tgz`);
  const target = await host.files.readLink(link).catch(() => undefined);
  const match = new RegExp(`^${addOnName}:(.+)\\.torcx\\.tgz$`).exec(basename(target ?? ''));
  return match?.[1];
}
