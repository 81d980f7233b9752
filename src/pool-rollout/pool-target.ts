// Which rendered config the nodes of a pool are to have: what its MachineConfigs render to, unless a person rolled the
// pool back. A roll-back counts as long as they render to what it undid; then it is dropped.
import { poolRollbackAnnotation, readPoolRollback } from '../contract/machine-config-node.ts';
import { readPoolStatus } from '../contract/machine-config-pool.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

export interface PoolTarget {
  /** Empty while the pool has never been rendered. */
  readonly name: string;
  /** The MachineConfigs it is made of, in merge order. */
  readonly sources: readonly string[];
  /** The annotation asks for nothing any more: it is removed. */
  readonly dropsRollback: boolean;
}

export interface RenderedName {
  readonly name: string;
  readonly sources: readonly string[];
}

/** `rendered`: undefined while the pool cannot be rendered; then its target stays. */
export function poolTarget(
  pool: KubernetesObject,
  rendered: RenderedName | undefined,
  exists: (renderedConfig: string) => boolean,
): PoolTarget {
  const { configuration } = (pool['spec'] ?? {}) as {
    readonly configuration?: { readonly name?: string; readonly source?: readonly { readonly name: string }[] } | null;
  };
  const stays = {
    name: configuration?.name ?? '',
    sources: (configuration?.source ?? []).map(({ name }) => name),
    dropsRollback: false,
  };
  if (rendered === undefined) return stays;
  const annotation = pool.metadata.annotations?.[poolRollbackAnnotation];
  const rollback = readPoolRollback(annotation);
  if (rollback?.insteadOf !== rendered.name || !exists(rollback.to)) {
    return { ...rendered, dropsRollback: annotation !== undefined };
  }
  if (stays.name === rollback.to) return stays;
  const known = readPoolStatus(pool).history.find(({ name }) => name === rollback.to);
  return { name: rollback.to, sources: known?.sources ?? [], dropsRollback: false };
}
