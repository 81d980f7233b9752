// The role labels of nodes. A kubelet may not label itself, or any worker could become a master: the labels come from
// the inventory or from the pool of the token with which the node joined. Labels are added, never removed.
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
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

/** The role labels that the node should have and does not. */
export function missingRoleLabels(node: KubernetesObject, roles: readonly string[]): Readonly<Record<string, string>> {
  const present = node.metadata.labels ?? {};
  const wanted = roles.map((role) => `node-role.kubernetes.io/${role}`).filter((label) => !(label in present));
  return Object.fromEntries(wanted.map((label) => [label, '']));
}

export async function labelNode(
  client: KubernetesClient,
  node: KubernetesObject,
  options: ApiCallOptions & { readonly labels: Readonly<Record<string, string>> },
): Promise<void> {
  const { labels, ...call } = options;
  await client.mergePatch(referenceOf(node), { metadata: { labels } }, call);
}
