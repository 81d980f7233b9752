// What a person's objects would do to the cluster: its pools are rendered as its controller would render them, with
// these objects in place of those that the API has. Nothing is written here.
import { machineConfigurationObject } from '../../contract/machine-config-node.ts';
import type { KubernetesObject, ObjectKind } from '../../kubernetes/object.ts';
import { canonicalJson } from '../../machine-config/canonical-json.ts';
import {
  type ClusterSources,
  clusterSources,
  isRenderProblem,
  kubeletConfigKind,
  type SourceObjects,
  sourceKinds,
} from '../../machine-config/cluster-sources.ts';
import { selects } from '../../machine-config/label-selector.ts';
import { type MachineConfigPool, roleLabel } from '../../machine-config/machine-config.ts';
import { viewPools } from '../../pool-rollout/pool-view.ts';
import { clusterErrors } from '../errors.ts';
import { type PlanFacts, planPool, targetOf } from './plan-facts.ts';
import type { PlannedPool } from './roll-out-plan.ts';

export interface ObjectChange {
  /** As it will be in the API. */
  readonly object: KubernetesObject;
  readonly change: 'added' | 'changed' | 'unchanged';
}

export interface ApplyPlan {
  readonly objects: readonly ObjectChange[];
  /** The pools whose configuration changes. */
  readonly pools: readonly PlannedPool[];
  readonly warnings: readonly string[];
}

/** Throws CLUSTER_NOT_RENDERED where a pool could not be rendered, or not be brought to its machines. */
export function planApply(facts: PlanFacts, objects: readonly KubernetesObject[], generatedBy: string): ApplyPlan {
  const before = clusterSources(facts.sources, generatedBy);
  const after = clusterSources(withObjects(facts.sources, objects), generatedBy);
  const changed = { ...facts, machineConfiguration: objects.find(isPolicy) ?? facts.machineConfiguration };
  // A pool that was rolled back stays where it is while its MachineConfigs render to what was undone.
  const rolledBack = new Map(
    viewPools(facts.sources.pools, []).map(({ name, rollback }) => [name, rollback?.insteadOf]),
  );
  refuseKubeletConfigs(after, objects);
  const warnings: string[] = objects.flatMap((object) => unselected(object, after.pools));
  const pools = after.pools.flatMap((pool) => {
    const { name } = pool.metadata;
    const now = targetOf(facts, name);
    const outcome = after.unusablePools.get(name) ?? after.render(pool, replacedBy(after, now));
    if (isRenderProblem(outcome)) {
      const known = before.unusablePools.get(name) ?? before.render(pool, replacedBy(before, now));
      if (!isRenderProblem(known) || known.problem !== outcome.problem) {
        throw clusterErrors.NOT_RENDERED({ pool: name, problem: outcome.problem });
      }
      warnings.push(`pool ${name} cannot be rendered already, and stays as it is: ${outcome.problem}`);
      return [];
    }
    warnings.push(...outcome.warnings);
    if (outcome.name === now) return [];
    if (rolledBack.get(name) === outcome.name) return [];
    return [planPool(changed, { sources: after, pool, to: outcome.name, spec: outcome.machineConfig.spec })];
  });
  return { objects: objects.map((object) => objectChange(facts, object)), pools, warnings };
}

/** The objects in place of those with the same kind and name. */
function withObjects(sources: SourceObjects, objects: readonly KubernetesObject[]): SourceObjects {
  const overlaid = (present: readonly KubernetesObject[], { kind }: ObjectKind): readonly KubernetesObject[] => {
    const given = objects.filter((object) => object.kind === kind);
    const kept = present.filter(({ metadata }) => given.every((one) => one.metadata.name !== metadata.name));
    return [...kept, ...given.map((object) => merged(object, find(present, object)))];
  };
  return {
    machineConfigs: overlaid(sources.machineConfigs, sourceKinds.machineConfigs.kind),
    pools: overlaid(sources.pools, sourceKinds.pools.kind),
    controllerConfigs: sources.controllerConfigs,
    kubeletConfigs: overlaid(sources.kubeletConfigs ?? [], kubeletConfigKind),
  };
}

/**
 * As it will be in the API: what the person wrote, and what others keep on the same object. The controller keeps the
 * target of a pool in its spec.
 */
function merged(object: KubernetesObject, present: KubernetesObject | undefined): KubernetesObject {
  if (present === undefined) return object;
  const annotations = { ...present.metadata.annotations, ...object.metadata.annotations };
  const { labels = {} } = object.metadata;
  const { configuration } = (present['spec'] ?? {}) as { readonly configuration?: unknown };
  const kept = object.kind === 'MachineConfigPool' && configuration !== undefined ? { configuration } : {};
  const spec = { ...(object['spec'] as object | undefined), ...kept };
  return { ...present, metadata: { ...present.metadata, labels, annotations }, spec };
}

function find(
  objects: readonly KubernetesObject[],
  { kind, metadata }: KubernetesObject,
): KubernetesObject | undefined {
  return objects.find((object) => object.kind === kind && object.metadata.name === metadata.name);
}

function objectChange({ sources, machineConfiguration }: PlanFacts, object: KubernetesObject): ObjectChange {
  const policies = machineConfiguration === undefined ? [] : [machineConfiguration];
  const present = find([...Object.values(sources).flat(), ...policies], object);
  const after = merged(object, present);
  if (present === undefined) return { object: after, change: 'added' };
  const said = ({ metadata: { labels, annotations }, spec }: KubernetesObject): string =>
    canonicalJson({ labels: labels ?? {}, annotations: annotations ?? {}, spec });
  return { object: after, change: said(after) === said(present) ? 'unchanged' : 'changed' };
}

/** A pool whose KubeletConfig cannot be used keeps what it has, which is not what its author wants. */
function refuseKubeletConfigs(after: ClusterSources, objects: readonly KubernetesObject[]): void {
  const given = new Set(
    objects.filter(({ kind }) => kind === kubeletConfigKind.kind).map(({ metadata }) => metadata.name),
  );
  const [bad] = after
    .kubeletResults()
    .filter(({ kubeletConfig, problems }) => given.has(kubeletConfig) && problems.length > 0);
  if (bad === undefined) return;
  const problem = `KubeletConfig ${bad.kubeletConfig}: ${bad.problems.join('; ')}`;
  throw clusterErrors.NOT_RENDERED({ pool: bad.pools[0] ?? 'of no name', problem });
}

function isPolicy({ kind }: KubernetesObject): boolean {
  return kind === machineConfigurationObject.kind;
}

function replacedBy(sources: ClusterSources, target: string | undefined) {
  return target === undefined ? undefined : sources.renderedConfig(target)?.spec;
}

function unselected(object: KubernetesObject, pools: readonly MachineConfigPool[]): readonly string[] {
  const { kind, metadata } = object;
  if (kind !== 'MachineConfig') return [];
  if (pools.some(({ spec }) => selects(spec.machineConfigSelector, metadata.labels ?? {}))) return [];
  return [`no pool selects the MachineConfig ${metadata.name}; its label ${roleLabel} should name one`];
}
