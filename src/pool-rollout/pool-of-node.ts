// Which pool a node belongs to, by its labels. A pool of the user's own counts more than worker, from which it is
// derived; master counts more than any other. A node in two pools of the user's own belongs to neither, because the
// configuration of the one would undo the other's.
import { selects } from '../machine-config/label-selector.ts';
import type { MachineConfigPool } from '../machine-config/machine-config.ts';

export type NodeMembership =
  | { readonly kind: 'member'; readonly pool: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous'; readonly pools: readonly string[] };

export function poolOfNode(
  labels: Readonly<Record<string, string>>,
  pools: readonly Pick<MachineConfigPool, 'metadata' | 'spec'>[],
): NodeMembership {
  const names = pools.filter(({ spec }) => selects(spec.nodeSelector, labels)).map(({ metadata }) => metadata.name);
  if (names.includes('master')) return { kind: 'member', pool: 'master' };
  const [own, another] = names.filter((name) => name !== 'worker');
  if (own === undefined) return names.length === 0 ? { kind: 'none' } : { kind: 'member', pool: 'worker' };
  if (another === undefined) return { kind: 'member', pool: own };
  return { kind: 'ambiguous', pools: names.filter((name) => name !== 'worker').toSorted() };
}
