// What a plan depends on, read from the API, and the plan of one pool made from it.
import { machineConfigurationObject } from '../../contract/machine-config-node.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import {
  type ClusterSources,
  kubeletConfigKind,
  type SourceObjects,
  sourceKinds,
} from '../../machine-config/cluster-sources.ts';
import { disruptionPolicies } from '../../machine-config/disruption-policies.ts';
import type { MachineConfigPool, MachineConfigSpec } from '../../machine-config/machine-config.ts';
import { poolOfNode } from '../../pool-rollout/pool-of-node.ts';
import { rolloutNode } from '../../pool-rollout/rollout-node.ts';
import { retry } from '../../workflow/retry.ts';
import type { PoolCall } from './observe-pools.ts';
import { type PlannedPool, planRollOut, type RebootTime } from './roll-out-plan.ts';

/** Everything of the API that a plan depends on. */
export interface PlanFacts {
  readonly sources: SourceObjects;
  readonly machineConfiguration: KubernetesObject | undefined;
  readonly nodes: readonly KubernetesObject[];
  readonly pods: readonly KubernetesObject[];
  readonly budgets: readonly KubernetesObject[];
}

export async function readPlanFacts({ host, client, signal }: PoolCall): Promise<PlanFacts> {
  return retry(apiPatience({ host, signal }), () => readOnce(client, signal));
}

async function readOnce(client: KubernetesClient, signal: AbortSignal): Promise<PlanFacts> {
  const call = { signal };
  const list = async (kind: { readonly apiVersion: string; readonly kind: string }) =>
    (await client.list(kind, {}, call)).items;
  const [machineConfigs, pools, controllerConfigs, kubeletConfigs, machineConfiguration, nodes, pods, budgets] =
    await Promise.all([
      list(sourceKinds.machineConfigs.kind),
      list(sourceKinds.pools.kind),
      list(sourceKinds.controllerConfigs.kind),
      list(kubeletConfigKind),
      client.find(machineConfigurationObject, call),
      list({ apiVersion: 'v1', kind: 'Node' }),
      list({ apiVersion: 'v1', kind: 'Pod' }),
      list({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' }),
    ]);
  const sources = { machineConfigs, pools, controllerConfigs, kubeletConfigs };
  return { sources, machineConfiguration, nodes, pods, budgets };
}

export interface PoolChange {
  readonly sources: ClusterSources;
  readonly pool: MachineConfigPool;
  readonly to: string;
  readonly spec: MachineConfigSpec;
}

/** Machines that share the kernel of their host are back in seconds; others have firmware to go through. */
const hostReboot: RebootTime = { least: 3, most: 12 };
const firmwareReboot: RebootTime = { least: 60, most: 600 };

export function planPool(facts: PlanFacts, { sources, pool, to, spec }: PoolChange): PlannedPool {
  const { name } = pool.metadata;
  // The machines of a new pool come from worker, as a rule.
  const now = targetOf(facts, name) ?? targetOf(facts, 'worker');
  const before = now === undefined ? undefined : sources.renderedConfig(now);
  const members = facts.nodes.filter(({ metadata }) => {
    const membership = poolOfNode(metadata.labels ?? {}, sources.pools);
    return membership.kind === 'member' && membership.pool === name;
  });
  return planRollOut({
    pool,
    before: before === undefined ? undefined : { name: before.metadata.name, spec: before.spec },
    after: { name: to, spec },
    nodes: members.map(rolloutNode),
    policies: disruptionPolicies(facts.machineConfiguration),
    pods: facts.pods,
    budgets: facts.budgets,
    reboot: sources.controllerConfig?.spec.machines?.sharesHost === true ? hostReboot : firmwareReboot,
  });
}

/** The configuration that the pool is to have now. */
export function targetOf({ sources }: PlanFacts, pool: string): string | undefined {
  const object = sources.pools.find(({ metadata }) => metadata.name === pool);
  const spec = (object?.['spec'] ?? {}) as { readonly configuration?: { readonly name?: string } | null };
  return spec.configuration?.name || undefined;
}
