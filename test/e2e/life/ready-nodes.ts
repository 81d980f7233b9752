// The machines of a cluster with its defaults, and which of its nodes are Ready.
import { masters } from '../fire/fire-cluster.ts';
import { type TrustCluster, trustKubectlJson } from '../trust/trust-cluster.ts';

export const everybody: readonly string[] = [...masters, 'worker-0'];

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

export async function readyNodes(cluster: TrustCluster): Promise<readonly string[]> {
  const { items } = await trustKubectlJson<NodeList>(cluster, 'get', 'nodes');
  return items
    .filter(({ status }) => status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    .map(({ metadata }) => metadata.name)
    .sort();
}
