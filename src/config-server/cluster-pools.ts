// From the objects of the API to what each pool is served: the same rendering as on the bootstrap machine, from the same
// facts, so that both give a pool the same name. An object that cannot be used keeps the pools that select it from
// changing, and no others.
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { baseMachineConfigs, clusterFactsOf } from '../machine-config/base-machine-configs.ts';
import { selects } from '../machine-config/label-selector.ts';
import type { ControllerConfig, MachineConfig, MachineConfigPool } from '../machine-config/machine-config.ts';
import { apiVersion, generatedAnnotation } from '../machine-config/machine-config.ts';
import { allPools } from '../machine-config/pools.ts';
import { readObjects, type ReadObjects } from '../machine-config/read-objects.ts';
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
  /** What a new machine of each pool gets, or why that is not known. */
  readonly pools: ReadonlyMap<string, MachineConfig | SourceWaiting>;
}

interface ReadOne {
  readonly objects: ReadObjects;
  /** Why it cannot be used. */
  readonly mistake?: string;
}

export class PoolRenderer {
  readonly #generatedBy: string;
  /** By kind and name: reading a large MachineConfig takes longer than everything else here. */
  #read = new Map<string, { readonly version: string | undefined; readonly one: ReadOne }>();

  constructor(generatedBy: string) {
    this.#generatedBy = generatedBy;
  }

  render(objects: PoolObjects): ClusterPools {
    const all = [...objects.machineConfigs, ...objects.pools, ...objects.controllerConfigs];
    this.#read = new Map(all.map((object) => [keyOf(object), this.#readOnce(object)]));
    const [facts] = objects.controllerConfigs;
    const controllerConfig = facts === undefined ? undefined : this.#one(facts).objects.controllerConfig;
    const waiting = (missing: string): SourceWaiting => ({ status: 'waiting', missing });
    const unreadable = objects.pools.flatMap((object) => {
      const { mistake } = this.#one(object);
      return mistake === undefined ? [] : [[object.metadata.name, waiting(mistake)] as const];
    });
    const given = allPools(objects.pools.flatMap((object) => this.#one(object).objects.pools));
    const pools = given.map(({ metadata }) => metadata.name);
    if (controllerConfig === undefined) {
      const reason = facts === undefined ? 'the API has no ControllerConfig yet' : (this.#one(facts).mistake ?? '');
      return { controllerConfig, pools: new Map(pools.map((pool) => [pool, waiting(reason)])) };
    }
    const rendered = given.map((pool) => [pool.metadata.name, this.#pool(pool, objects, controllerConfig)] as const);
    return { controllerConfig, pools: new Map([...rendered, ...unreadable]) };
  }

  #pool(pool: MachineConfigPool, objects: PoolObjects, facts: ControllerConfig): MachineConfig | SourceWaiting {
    const chosen = this.#chosen(pool, objects);
    if (chosen !== undefined) return chosen;
    const sources = objects.machineConfigs.filter((object) => !isRendered(object));
    const broken = sources.find(
      (object) =>
        this.#one(object).mistake !== undefined &&
        selects(pool.spec.machineConfigSelector, object.metadata.labels ?? {}),
    );
    if (broken !== undefined) return { status: 'waiting', missing: this.#one(broken).mistake ?? '' };
    const names = new Set(sources.map(({ metadata }) => metadata.name));
    const builtIns = baseMachineConfigs(clusterFactsOf(facts), this.#generatedBy);
    const machineConfigs = [
      ...builtIns.filter(({ metadata }) => !names.has(metadata.name)),
      ...sources.flatMap((object) => this.#one(object).objects.machineConfigs),
    ];
    try {
      const options = { osImageURL: facts.spec.osImageURL, generatedBy: this.#generatedBy };
      const { metadata, spec } = renderPool(pool, machineConfigs, options).machineConfig;
      return { metadata: { ...metadata, labels: {} }, spec };
    } catch (error) {
      if (!(error instanceof FirstlightError)) throw error;
      return { status: 'waiting', missing: error.message };
    }
  }

  /** Where somebody keeps rendered configs in the API, the one that the pool is to have counts. */
  #chosen(pool: MachineConfigPool, objects: PoolObjects): MachineConfig | undefined {
    const object = objects.pools.find(({ metadata }) => metadata.name === pool.metadata.name);
    const name = chosenConfig(object)?.config;
    const rendered = objects.machineConfigs.find((each) => each.metadata.name === name && isRendered(each));
    return rendered === undefined ? undefined : this.#one(rendered).objects.machineConfigs[0];
  }

  #one(object: KubernetesObject): ReadOne {
    return this.#readOnce(object).one;
  }

  #readOnce(object: KubernetesObject): { readonly version: string | undefined; readonly one: ReadOne } {
    const before = this.#read.get(keyOf(object));
    const version = object.metadata.resourceVersion;
    return before !== undefined && before.version === version ? before : { version, one: readOne(object) };
  }
}

function readOne(object: KubernetesObject): ReadOne {
  const name = keyOf(object);
  const objects = readObjects([{ value: object, placeOf: () => ({ file: name, line: 1, column: 1 }) }]);
  const wrong = objects.mistakes.find(({ severity }) => severity === 'error');
  return { objects, ...(wrong === undefined ? {} : { mistake: `${name} cannot be used: ${wrong.message}` }) };
}

function keyOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}

/** A result and no source. */
function isRendered({ metadata }: KubernetesObject): boolean {
  return metadata.name.startsWith('rendered-') && metadata.annotations?.[generatedAnnotation] !== undefined;
}
