// From the objects of the API to the config of each pool: rendered as on the bootstrap machine, from the same facts, so
// that both give a pool's config the same name. An object that cannot be used affects only the pools that select it.
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { baseMachineConfigs, clusterFactsOf } from '../machine-config/base-machine-configs.ts';
import { selects } from '../machine-config/label-selector.ts';
import type { ControllerConfig, MachineConfig, MachineConfigPool } from '../machine-config/machine-config.ts';
import { apiVersion, generatedAnnotation } from '../machine-config/machine-config.ts';
import { allPools } from '../machine-config/pools.ts';
import { type ReadObjects, readObjects } from '../machine-config/read-objects.ts';
import { renderPool } from '../machine-config/render.ts';
import { chosenConfig, type SourceWaiting } from './config-source.ts';

export const poolKinds = {
  machineConfigs: { kind: { apiVersion, kind: 'MachineConfig' } },
  pools: { kind: { apiVersion, kind: 'MachineConfigPool' } },
  controllerConfigs: { kind: { apiVersion, kind: 'ControllerConfig' } },
} as const;

export type PoolObjects = Readonly<Record<keyof typeof poolKinds, readonly KubernetesObject[]>>;

export interface ClusterPools {
  readonly controllerConfig: ControllerConfig | undefined;
  /** The config of a new machine of each pool, or why there is none. */
  readonly pools: ReadonlyMap<string, MachineConfig | SourceWaiting>;
}

interface ReadObject {
  readonly object: KubernetesObject;
  readonly read: ReadObjects;
  /** Why it cannot be used. */
  readonly mistake: string | undefined;
}

type ReadPoolObjects = Readonly<Record<keyof typeof poolKinds, readonly ReadObject[]>>;

export function clusterPools(objects: PoolObjects, generatedBy: string): ClusterPools {
  const all: ReadPoolObjects = {
    machineConfigs: objects.machineConfigs.map(readOne),
    pools: objects.pools.map(readOne),
    controllerConfigs: objects.controllerConfigs.map(readOne),
  };
  const [facts] = all.controllerConfigs;
  const controllerConfig = facts?.read.controllerConfig;
  const given = allPools(all.pools.flatMap(({ read }) => read.pools));
  if (controllerConfig === undefined) {
    const missing = facts === undefined ? 'the API has no ControllerConfig yet' : (facts.mistake ?? '');
    return { controllerConfig, pools: new Map(given.map(({ metadata }) => [metadata.name, waiting(missing)])) };
  }
  const rendered = given.map((pool) => {
    const config = chosenRendered(pool, all) ?? renderNow(pool, all, { controllerConfig, generatedBy });
    return [pool.metadata.name, config] as const;
  });
  const unreadable = all.pools.flatMap(({ object, mistake }) =>
    mistake === undefined ? [] : [[object.metadata.name, waiting(mistake)] as const],
  );
  return { controllerConfig, pools: new Map([...rendered, ...unreadable]) };
}

function waiting(missing: string): SourceWaiting {
  return { status: 'waiting', missing };
}

/** Where rendered configs are kept in the API, the one that the pool is to have counts. */
function chosenRendered(
  pool: MachineConfigPool,
  { pools, machineConfigs }: ReadPoolObjects,
): MachineConfig | undefined {
  const found = pools.find(({ object }) => object.metadata.name === pool.metadata.name);
  const name = chosenConfig(found?.object)?.config;
  return machineConfigs.find(({ object }) => object.metadata.name === name && isRendered(object))?.read
    .machineConfigs[0];
}

interface RenderFacts {
  readonly controllerConfig: ControllerConfig;
  readonly generatedBy: string;
}

function renderNow(
  pool: MachineConfigPool,
  objects: ReadPoolObjects,
  { controllerConfig, generatedBy }: RenderFacts,
): MachineConfig | SourceWaiting {
  const sources = objects.machineConfigs.filter(({ object }) => !isRendered(object));
  const broken = sources.find(
    ({ object, mistake }) =>
      mistake !== undefined && selects(pool.spec.machineConfigSelector, object.metadata.labels ?? {}),
  );
  if (broken !== undefined) return waiting(broken.mistake ?? '');
  const names = new Set(sources.map(({ object }) => object.metadata.name));
  const builtIns = baseMachineConfigs(clusterFactsOf(controllerConfig), generatedBy);
  const machineConfigs = [
    ...builtIns.filter(({ metadata }) => !names.has(metadata.name)),
    ...sources.flatMap(({ read }) => read.machineConfigs),
  ];
  try {
    const options = { osImageURL: controllerConfig.spec.osImageURL, generatedBy };
    const { metadata, spec } = renderPool(pool, machineConfigs, options).machineConfig;
    return { metadata: { ...metadata, labels: {} }, spec };
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    return waiting(error.message);
  }
}

function readOne(object: KubernetesObject): ReadObject {
  const name = `${object.kind} ${object.metadata.name}`;
  const read = readObjects([{ value: object, placeOf: () => ({ file: name, line: 1, column: 1 }) }]);
  const wrong = read.mistakes.find(({ severity }) => severity === 'error');
  return { object, read, mistake: wrong === undefined ? undefined : `${name} cannot be used: ${wrong.message}` };
}

/** A result and no source. */
function isRendered({ metadata }: KubernetesObject): boolean {
  return metadata.name.startsWith('rendered-') && metadata.annotations?.[generatedAnnotation] !== undefined;
}
