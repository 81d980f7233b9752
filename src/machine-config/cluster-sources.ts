// What the pools of a cluster are rendered from, read from the objects of its API. The pool controller and the config
// servers read the same objects by this file, and the bootstrap machine renders from the same facts: all of them give
// a pool's config the same name. An object that cannot be used affects only the pools that select it.
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { baseMachineConfigs, baseNames, clusterFactsOf } from './base-machine-configs.ts';
import type { GeneratedKubeletConfigs, KubeletConfigInput, KubeletConfigResult } from './generate-kubelet-configs.ts';
import { generateKubeletConfigs, kubeletConfigAnnotation } from './generate-kubelet-configs.ts';
import { selects } from './label-selector.ts';
import type { ControllerConfig, MachineConfig, MachineConfigPool, MachineConfigSpec } from './machine-config.ts';
import { apiVersion, generatedAnnotation } from './machine-config.ts';
import { allPools } from './pools.ts';
import { type ReadObjects, readObjects } from './read-objects.ts';
import { type RenderedPool, type RenderOptions, renderPool } from './render.ts';

export const sourceKinds = {
  machineConfigs: { kind: { apiVersion, kind: 'MachineConfig' } },
  pools: { kind: { apiVersion, kind: 'MachineConfigPool' } },
  controllerConfigs: { kind: { apiVersion, kind: 'ControllerConfig' } },
} as const;

/** Read by the pool controller only: for others the MachineConfigs made from them are in the API. */
export const kubeletConfigKind = { apiVersion, kind: 'KubeletConfig' } as const;

export type SourceObjects = Readonly<Record<keyof typeof sourceKinds, readonly KubernetesObject[]>> & {
  /** Where they are given, the MachineConfigs of KubeletConfigs are generated from them instead of read. */
  readonly kubeletConfigs?: readonly KubernetesObject[];
};

/** One sentence: why there is no rendered config. */
export interface RenderProblem {
  readonly problem: string;
}

export interface ClusterSources {
  readonly controllerConfig: ControllerConfig | undefined;
  /** With the built-in pools, also where the API has no object for them; in order of name. */
  readonly pools: readonly MachineConfigPool[];
  /** The pools whose objects cannot be used, by name. */
  readonly unusablePools: ReadonlyMap<string, RenderProblem>;
  /** What this program generates for this cluster, as it should be in the API. */
  readonly generated: () => readonly MachineConfig[];
  /** What became of each KubeletConfig. */
  readonly kubeletResults: () => readonly KubeletConfigResult[];
  /** `replaces`: what the machines of the pool have now; a result that they cannot be brought to is a problem. */
  readonly render: (pool: MachineConfigPool, replaces?: MachineConfigSpec) => RenderedPool | RenderProblem;
  /** A rendered config of the API, by its name. */
  readonly renderedConfig: (name: string) => MachineConfig | undefined;
}

export function isRenderProblem(outcome: object): outcome is RenderProblem {
  return 'problem' in outcome;
}

/** A result and no source. */
export function isRenderedConfig({ metadata }: KubernetesObject): boolean {
  return metadata.name.startsWith('rendered-') && isGenerated(metadata);
}

export function clusterSources(objects: SourceObjects, generatedBy: string): ClusterSources {
  const readPools = objects.pools.map(readOne);
  const pools = allPools(readPools.flatMap(({ read }) => read.pools));
  const [facts] = objects.controllerConfigs.map(readOne);
  const controllerConfig = facts?.read.controllerConfig;
  // A config server asks for a rendered config alone, as long as the API has it: nothing else is read then.
  const sources = once(() => objects.machineConfigs.filter((object) => !isRenderedConfig(object)).map(readOne));
  const base = once(() => generatedConfigs(controllerConfig, { sources: sources(), generatedBy }));
  const kubelets = once(() =>
    kubeletsOf(objects.kubeletConfigs?.map(readOne), {
      pools,
      machineConfigs: [...base(), ...sources().flatMap(({ read }) => read.machineConfigs)],
      generatedBy,
      sharesHost: controllerConfig?.spec.machines?.sharesHost ?? false,
    }),
  );
  const generated = once(() => [...base(), ...kubelets().machineConfigs]);
  const missing = facts?.mistake ?? 'the API has no ControllerConfig yet';
  return {
    controllerConfig,
    pools,
    unusablePools: new Map(
      readPools.flatMap(({ object, mistake }) =>
        mistake === undefined ? [] : [[object.metadata.name, { problem: mistake }] as const],
      ),
    ),
    generated,
    kubeletResults: () => kubelets().results,
    render: (pool, replaces) => {
      if (controllerConfig === undefined) return { problem: missing };
      const { osImageURL, machines } = controllerConfig.spec;
      const options = { osImageURL, machines, replaces, generatedBy };
      const isKept = ({ metadata }: KubernetesObject): boolean =>
        objects.kubeletConfigs === undefined && metadata.annotations?.[kubeletConfigAnnotation] !== undefined;
      const usable = sources().filter(({ object }) => !isLeftOver(object) || isKept(object));
      return renderNow(pool, { sources: usable, generated: generated(), options });
    },
    renderedConfig: (name) => {
      const found = objects.machineConfigs.find((object) => object.metadata.name === name && isRenderedConfig(object));
      return found === undefined ? undefined : readRenderedConfig(found);
    },
  };
}

export function readRenderedConfig(object: KubernetesObject): MachineConfig | undefined {
  return readOne(object).read.machineConfigs[0];
}

/** For objects that are not generated now: whether they were before. They count no more, and are deleted. */
export function isLeftOver({ metadata }: KubernetesObject): boolean {
  const { name, annotations = {} } = metadata;
  return isGenerated(metadata) && (baseNames.includes(name) || kubeletConfigAnnotation in annotations);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

interface ReadObject {
  readonly object: KubernetesObject;
  readonly read: ReadObjects;
  /** Why it cannot be used. */
  readonly mistake: string | undefined;
}

interface GeneratorInputs {
  readonly sources: readonly ReadObject[];
  readonly generatedBy: string;
}

/** A MachineConfig that a person wrote under the name of a generated one takes its place. */
function generatedConfigs(
  controllerConfig: ControllerConfig | undefined,
  { sources, generatedBy }: GeneratorInputs,
): readonly MachineConfig[] {
  if (controllerConfig === undefined) return [];
  const taken = new Set(sources.flatMap(({ object: { metadata } }) => (isGenerated(metadata) ? [] : [metadata.name])));
  const all = baseMachineConfigs(clusterFactsOf(controllerConfig), generatedBy);
  return all.filter(({ metadata }) => !taken.has(metadata.name));
}

/** One that cannot even be read gets its result too. */
function kubeletsOf(
  read: readonly ReadObject[] | undefined,
  input: Omit<KubeletConfigInput, 'kubeletConfigs'>,
): GeneratedKubeletConfigs {
  if (read === undefined) return { machineConfigs: [], results: [] };
  const kubeletConfigs = read.flatMap((one) => one.read.kubeletConfigs);
  const { machineConfigs, results } = generateKubeletConfigs({ ...input, kubeletConfigs });
  const broken = read.filter(({ mistake }) => mistake !== undefined);
  const names = new Set(broken.map(({ object }) => object.metadata.name));
  const kept = input.machineConfigs.filter(({ metadata }) =>
    names.has(metadata.annotations[kubeletConfigAnnotation] ?? ''),
  );
  const unread = broken.map(({ object, mistake }): KubeletConfigResult => {
    return { kubeletConfig: object.metadata.name, pools: [], machineConfigs: [], problems: [mistake ?? ''] };
  });
  return { machineConfigs: [...machineConfigs, ...kept], results: [...results, ...unread] };
}

interface RenderInputs {
  readonly sources: readonly ReadObject[];
  readonly generated: readonly MachineConfig[];
  readonly options: RenderOptions;
}

function renderNow(
  pool: MachineConfigPool,
  { sources, generated, options }: RenderInputs,
): RenderedPool | RenderProblem {
  // What is generated now counts, also while the API still has what was generated before.
  const names = new Set(generated.map(({ metadata }) => metadata.name));
  const given = sources.filter(({ object }) => !names.has(object.metadata.name));
  const broken = given.find(
    ({ object, mistake }) =>
      mistake !== undefined && selects(pool.spec.machineConfigSelector, object.metadata.labels ?? {}),
  );
  if (broken !== undefined) return { problem: broken.mistake ?? '' };
  try {
    return renderPool(pool, [...generated, ...given.flatMap(({ read }) => read.machineConfigs)], options);
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    return { problem: error.message };
  }
}

function readOne(object: KubernetesObject): ReadObject {
  const name = `${object.kind} ${object.metadata.name}`;
  const read = readObjects([{ value: object, placeOf: () => ({ file: name, line: 1, column: 1 }) }]);
  const wrong = read.mistakes.find(({ severity }) => severity === 'error');
  return { object, read, mistake: wrong === undefined ? undefined : `${name} cannot be used: ${wrong.message}` };
}

function isGenerated({ annotations }: KubernetesObject['metadata']): boolean {
  return annotations?.[generatedAnnotation] !== undefined;
}
