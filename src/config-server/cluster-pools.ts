// From the objects of the API to the config that a new machine of each pool gets: the rendered one that its pool
// chose, and one rendered here while the API has none.
import type { KubernetesObject } from '../kubernetes/object.ts';
import {
  type ClusterSources,
  clusterSources,
  isRenderProblem,
  type RenderProblem,
  type SourceObjects,
} from '../machine-config/cluster-sources.ts';
import type { ControllerConfig, MachineConfig, MachineConfigPool } from '../machine-config/machine-config.ts';
import { chosenConfig, type SourceWaiting } from './config-source.ts';

export interface ClusterPools {
  readonly controllerConfig: ControllerConfig | undefined;
  /** The config of a new machine of each pool, or why there is none. */
  readonly pools: ReadonlyMap<string, MachineConfig | SourceWaiting>;
  /** A rendered config of a pool that the API has. */
  readonly named: (pool: string, config: string) => MachineConfig | undefined;
}

export function clusterPools(objects: SourceObjects, generatedBy: string): ClusterPools {
  const sources = clusterSources(objects, generatedBy);
  const found = sources.pools.map((pool) => [pool.metadata.name, configOf(pool, sources, objects.pools)] as const);
  const unusable = [...sources.unusablePools].map(([name, problem]) => [name, waiting(problem)] as const);
  const names = new Set(sources.pools.map(({ metadata }) => metadata.name));
  const named = (pool: string, config: string): MachineConfig | undefined =>
    names.has(pool) && isRenderedOf(pool, config) ? sources.renderedConfig(config) : undefined;
  return { controllerConfig: sources.controllerConfig, pools: new Map([...found, ...unusable]), named };
}

function configOf(
  pool: MachineConfigPool,
  { controllerConfig, render, renderedConfig }: ClusterSources,
  objects: readonly KubernetesObject[],
): MachineConfig | SourceWaiting {
  const object = objects.find(({ metadata }) => metadata.name === pool.metadata.name);
  const chosen = chosenConfig(object)?.config;
  // Without the facts about the cluster no kubeconfig could be made for the machine.
  const config = controllerConfig === undefined || chosen === undefined ? undefined : renderedConfig(chosen);
  if (config !== undefined) return config;
  const outcome = render(pool);
  if (isRenderProblem(outcome)) return waiting(outcome);
  const { metadata, spec } = outcome.machineConfig;
  return { metadata: { ...metadata, labels: {} }, spec };
}

/** The name says it: of another pool the token of this one opens nothing. */
function isRenderedOf(pool: string, config: string): boolean {
  const prefix = `rendered-${pool}-`;
  return config.startsWith(prefix) && /^[0-9a-f]{32}$/.test(config.slice(prefix.length));
}

function waiting({ problem }: RenderProblem): SourceWaiting {
  return { status: 'waiting', missing: problem };
}
