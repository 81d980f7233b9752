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
}

export function clusterPools(objects: SourceObjects, generatedBy: string): ClusterPools {
  const sources = clusterSources(objects, generatedBy);
  const found = sources.pools.map((pool) => [pool.metadata.name, configOf(pool, sources, objects.pools)] as const);
  const unusable = [...sources.unusablePools].map(([name, problem]) => [name, waiting(problem)] as const);
  return { controllerConfig: sources.controllerConfig, pools: new Map([...found, ...unusable]) };
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

function waiting({ problem }: RenderProblem): SourceWaiting {
  return { status: 'waiting', missing: problem };
}
