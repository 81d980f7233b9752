// Keeps what is generated and rendered in the API: the MachineConfigs that this program generates, and one rendered
// config per pool. It renders when something that pools are rendered from has changed, and writes only what differs:
// after a bootstrap the API has everything already.
import { isDeepStrictEqual } from 'node:util';
import { renderedFinalizer } from '../contract/machine-config-pool.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import {
  type ClusterSources,
  clusterSources,
  isLeftOver,
  isRenderedConfig,
  isRenderProblem,
  readRenderedConfig,
  type SourceObjects,
} from '../machine-config/cluster-sources.ts';
import { type KubeletConfigResult, kubeletConfigAnnotation } from '../machine-config/generate-kubelet-configs.ts';
import { apiVersion, type MachineConfigPool, type MachineConfigSpec } from '../machine-config/machine-config.ts';
import { machineConfigManifest } from '../machine-config/manifests.ts';
import type { ObservedPool } from './decide-rollout.ts';
import type { RenderedName } from './pool-target.ts';

export interface RenderClusterOptions {
  readonly client: KubernetesClient;
  readonly generatedBy: string;
  readonly signal: AbortSignal;
}

export interface RenderedCluster {
  readonly pools: readonly Omit<ObservedPool, 'object'>[];
  readonly kubeletConfigs: readonly KubeletConfigResult[];
  /** Rendered configs that were written now. */
  readonly written: readonly { readonly pool: string; readonly name: string }[];
}

/** Changes when a render could give another result: not for a status, a target or a node. */
export function sourcesDigest({
  machineConfigs,
  pools,
  controllerConfigs,
  kubeletConfigs = [],
}: SourceObjects): string {
  return JSON.stringify([
    machineConfigs
      .filter((object) => !isRenderedConfig(object))
      .map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
    pools.map(({ metadata, spec }) => [
      metadata.name,
      metadata.labels,
      { ...(spec as object), configuration: undefined },
    ]),
    controllerConfigs.map(({ metadata, spec }) => [metadata.name, spec]),
    kubeletConfigs.map(({ metadata, spec }) => [metadata.name, metadata.uid, spec]),
  ]);
}

/** What a watch keeps of a MachineConfig: of a rendered one only its name and marks, because none is read again. */
export function machineConfigInBrief(object: KubernetesObject): KubernetesObject {
  const { apiVersion, kind, metadata } = object;
  const { managedFields: _, ...kept } = metadata;
  return isRenderedConfig(object) ? { apiVersion, kind, metadata: kept } : { ...object, metadata: kept };
}

export async function renderCluster(objects: SourceObjects, options: RenderClusterOptions): Promise<RenderedCluster> {
  const sources = clusterSources(objects, options.generatedBy);
  await writeGenerated(sources, objects, options);
  const pools: Omit<ObservedPool, 'object'>[] = [];
  const written: { readonly pool: string; readonly name: string }[] = [];
  for (const pool of sources.pools) {
    const { name } = pool.metadata;
    const outcome = sources.unusablePools.get(name) ?? (await renderAfter(pool, sources, options));
    if (isRenderProblem(outcome)) {
      pools.push({ pool, rendered: undefined, renderProblem: outcome.problem });
      continue;
    }
    const rendered: RenderedName = {
      name: outcome.name,
      sources: outcome.sources.map(({ metadata }) => metadata.name),
    };
    pools.push({ pool, rendered, renderProblem: undefined });
    if (objects.machineConfigs.some(({ metadata }) => metadata.name === outcome.name)) continue;
    if (await create(renderedObject(outcome.machineConfig, objects.pools, name), options)) {
      written.push({ pool: name, name: outcome.name });
    }
  }
  return { pools, kubeletConfigs: sources.kubeletResults(), written };
}

/** The result must be something that the machines of the pool can be brought to. */
async function renderAfter(
  pool: MachineConfigPool,
  sources: ClusterSources,
  options: RenderClusterOptions,
): Promise<ReturnType<ClusterSources['render']>> {
  const outcome = sources.render(pool);
  const target = pool.spec.configuration?.name ?? '';
  if (isRenderProblem(outcome) || target === '' || outcome.name === target) return outcome;
  const replaces = await specOf(target, options);
  return replaces === undefined ? outcome : sources.render(pool, replaces);
}

async function specOf(name: string, { client, signal }: RenderClusterOptions): Promise<MachineConfigSpec | undefined> {
  const object = await client.find({ apiVersion, kind: 'MachineConfig', name }, { signal });
  return object === undefined ? undefined : readRenderedConfig(object)?.spec;
}

/** The pool owns it: with a custom pool its rendered configs go, when no node names them any more. */
function renderedObject(machineConfig: object, pools: readonly KubernetesObject[], pool: string): KubernetesObject {
  const object = machineConfig as KubernetesObject;
  const owner = pools.find(({ metadata }) => metadata.name === pool);
  const ownerReferences = owner === undefined ? [] : [ownerOf(owner)];
  return { ...object, metadata: { ...object.metadata, finalizers: [renderedFinalizer], ownerReferences } };
}

function ownerOf({ apiVersion, kind, metadata }: KubernetesObject): object {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
}

async function create(object: KubernetesObject, { client, signal }: RenderClusterOptions): Promise<boolean> {
  const { name } = object.metadata;
  // The watch may be behind: then it is there already, and its name says what is in it.
  if ((await client.find({ apiVersion, kind: 'MachineConfig', name }, { signal })) !== undefined) return false;
  await client.create(object, { signal });
  return true;
}

async function writeGenerated(
  sources: ClusterSources,
  { machineConfigs, kubeletConfigs = [] }: SourceObjects,
  { client, signal }: RenderClusterOptions,
): Promise<void> {
  const wanted = sources.generated();
  for (const config of wanted) {
    const { name, annotations } = config.metadata;
    const present = machineConfigs.find(({ metadata }) => metadata.name === name);
    const manifest = machineConfigManifest(config) as KubernetesObject;
    if (present !== undefined && isDeepStrictEqual(present['spec'], plain(manifest['spec']))) continue;
    const from = kubeletConfigs.find(({ metadata }) => metadata.name === annotations[kubeletConfigAnnotation]);
    const ownerReferences = from === undefined ? {} : { ownerReferences: [ownerOf(from)] };
    const resourceVersion = present?.metadata.resourceVersion;
    const version = resourceVersion === undefined ? {} : { resourceVersion };
    const object = { ...manifest, metadata: { ...manifest.metadata, ...ownerReferences, ...version } };
    await (present === undefined ? client.create(object, { signal }) : client.replace(object, { signal }));
  }
  if (sources.controllerConfig === undefined) return;
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  for (const object of machineConfigs.filter((each) => !names.has(each.metadata.name) && isLeftOver(each))) {
    const { uid } = object.metadata;
    await client.delete(
      { apiVersion, kind: 'MachineConfig', name: object.metadata.name },
      { signal, ...(uid ? { uid } : {}) },
    );
  }
}

/** As JSON carries it: without fields that are undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
