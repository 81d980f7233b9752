// The role labels of nodes, and the labels by which a pool of the user's own selects its nodes. A kubelet may not label
// itself, or any worker could become a master: the labels come from the inventory or from the pool of the token with
// which the node joined. Labels are added, never removed; those of such a pool once, as the token ends with it.
import { machineConfigPoolKind } from '../contract/machine-config-pool.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { type KubernetesObject, referenceOf } from '../kubernetes/object.ts';
import type { JoinFacts } from './join-facts.ts';

export const nodeKind = { apiVersion: 'v1', kind: 'Node' } as const;

/** Empty for a node that is neither in the inventory nor joined with a token of ours. */
export function rolesOf(nodeName: string, { inventory, tokens }: Pick<JoinFacts, 'inventory' | 'tokens'>): string[] {
  const pool =
    tokens.find(({ used }) => used?.by === nodeName)?.pool ??
    inventory.machines.find(({ name }) => name === nodeName)?.role;
  if (pool === undefined || pool === 'bootstrap') return [];
  if (pool === 'master') return ['master', 'control-plane'];
  return pool === 'worker' ? ['worker'] : ['worker', pool];
}

export type NodeLabels = Readonly<Record<string, string>>;
/** By the name of the pool; only those of the user's own that a machine joins now. */
export type PoolLabels = ReadonlyMap<string, NodeLabels>;

type LabelFacts = Pick<JoinFacts, 'inventory' | 'tokens'> & { readonly poolLabels: PoolLabels };

/** The labels that the node should have and does not. One that it has with another value stays. */
export function missingLabels({ metadata }: KubernetesObject, facts: LabelFacts): NodeLabels {
  const present = metadata.labels ?? {};
  const roles = rolesOf(metadata.name, facts).map((role) => [`node-role.kubernetes.io/${role}`, ''] as const);
  const pool = facts.tokens.find(({ used }) => used?.by === metadata.name)?.pool ?? '';
  const wanted = [...roles, ...Object.entries(facts.poolLabels.get(pool) ?? {})];
  return Object.fromEntries(wanted.filter(([label]) => !(label in present)));
}

/** By which labels the pools of used tokens select their nodes; nothing for a pool that is gone meanwhile. */
export async function readPoolLabels(
  client: KubernetesClient,
  tokens: JoinFacts['tokens'],
  call: ApiCallOptions,
): Promise<PoolLabels> {
  const pools = new Set(tokens.flatMap(({ used, pool }) => (used === undefined ? [] : [pool])));
  const labels = new Map<string, NodeLabels>();
  for (const pool of pools) {
    if (pool === 'master' || pool === 'worker') continue;
    try {
      labels.set(pool, selectorLabels(await client.get({ ...machineConfigPoolKind, name: pool }, call)));
    } catch (error) {
      if (!isError(error, kubernetesErrors.NOT_FOUND)) throw error;
    }
  }
  return labels;
}

interface PoolSpec {
  readonly nodeSelector?: { readonly matchLabels?: NodeLabels | null } | null;
}

function selectorLabels(pool: KubernetesObject): NodeLabels {
  return (pool['spec'] as PoolSpec | undefined)?.nodeSelector?.matchLabels ?? {};
}

export async function labelNode(
  client: KubernetesClient,
  node: KubernetesObject,
  options: ApiCallOptions & { readonly labels: Readonly<Record<string, string>> },
): Promise<void> {
  const { labels, ...call } = options;
  await client.mergePatch(referenceOf(node), { metadata: { labels } }, call);
}
