// Which rendered configs of the API may go. One that a node or a pool names stays, and so do the newest of each pool,
// for a roll-back. A finalizer holds a rendered config that somebody deletes until nothing names it any more: without
// it a node could not be brought to it or back from it.
import { poolRollbackAnnotation, readPoolRollback } from '../contract/machine-config-node.ts';
import { readPoolStatus, renderedFinalizer } from '../contract/machine-config-pool.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { RolloutNode } from './rollout-node.ts';

/** How many of each pool are kept although nothing names them. */
const keptPerPool = 10;

export interface StaleConfigs {
  /** To be deleted. */
  readonly remove: readonly string[];
  /** Deleted by somebody and named by nothing: their finalizer is taken away. */
  readonly release: readonly string[];
  /** Deleted by somebody although a node or a pool names them. */
  readonly held: readonly { readonly name: string; readonly by: readonly string[] }[];
}

export function staleConfigs(
  rendered: readonly KubernetesObject[],
  { pools, nodes }: { readonly pools: readonly KubernetesObject[]; readonly nodes: readonly RolloutNode[] },
): StaleConfigs {
  const users = usersOf(pools, nodes);
  const isUsed = ({ metadata }: KubernetesObject): boolean => users.has(metadata.name);
  const deleted = rendered.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const unused = rendered.filter((config) => !isUsed(config) && !deleted.includes(config));
  const byPool = Map.groupBy(unused, ({ metadata }) => poolOfRendered(metadata.name));
  return {
    remove: [...byPool.values()].flatMap((configs) => configs.toSorted(newestFirst).slice(keptPerPool)).map(nameOf),
    release: deleted.filter((config) => !isUsed(config) && hasFinalizer(config)).map(nameOf),
    held: deleted.filter(isUsed).map((config) => ({ name: nameOf(config), by: users.get(nameOf(config)) ?? [] })),
  };
}

function usersOf(
  pools: readonly KubernetesObject[],
  nodes: readonly RolloutNode[],
): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  const add = (config: string | undefined, user: string): void => {
    if (config === undefined || config === '') return;
    users.set(config, [...new Set([...(users.get(config) ?? []), user])]);
  };
  for (const { name, current, desired } of nodes) for (const config of [current, desired]) add(config, `node ${name}`);
  for (const pool of pools) {
    const spec = pool['spec'] as { readonly configuration?: { readonly name?: string } | null } | undefined;
    add(spec?.configuration?.name, `pool ${pool.metadata.name}`);
    add(readPoolStatus(pool).configuration?.name, `pool ${pool.metadata.name}`);
    add(readPoolRollback(pool.metadata.annotations?.[poolRollbackAnnotation])?.to, `pool ${pool.metadata.name}`);
  }
  return users;
}

function hasFinalizer({ metadata }: KubernetesObject): boolean {
  const { finalizers } = metadata as { readonly finalizers?: readonly string[] };
  return finalizers?.includes(renderedFinalizer) ?? false;
}

/** `rendered-worker-<hash>` → `worker`. */
function poolOfRendered(name: string): string {
  return name.slice('rendered-'.length, name.lastIndexOf('-'));
}

function newestFirst({ metadata: one }: KubernetesObject, { metadata: other }: KubernetesObject): number {
  const [a, b] = [one.creationTimestamp ?? '', other.creationTimestamp ?? ''];
  return a === b ? 0 : a < b ? 1 : -1;
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name;
}
