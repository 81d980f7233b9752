// What in a restored cluster is about the control plane that was lost: a pure function of the objects and of when the
// restore began. What new machines wrote is younger and stays, so the same look may be repeated at any moment.
import { tokenSecretType } from '../../admission/bootstrap-token-secret.ts';
import type { PoolTokenDigests } from '../../admission/pool-token.ts';
import {
  agentLeases,
  etcdEndpoints,
  handoffConfigMap,
  nodeOfJoinRecord,
  progressConfigMap,
  systemNamespace,
} from '../../contract/cluster-objects.ts';
import type { Inventory } from '../../contract/inventory.ts';
import type { Lease } from '../../kubernetes/lease-object.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';

export interface RestoredObjects {
  readonly nodes: readonly KubernetesObject[];
  /** Of kube-system, like the others below. */
  readonly configMaps: readonly KubernetesObject[];
  readonly tokens: readonly KubernetesObject[];
  readonly leases: readonly Lease[];
}

export interface StaleObjects {
  readonly toDelete: readonly KubernetesObject[];
  /** Leases whose holder is gone. They stay: agents may not make new ones. */
  readonly toRelease: readonly Lease[];
}

export interface RestoreMoment {
  readonly inventory: Inventory;
  readonly beganAt: Date;
}

const lostRecords = new Set<string>([handoffConfigMap.name, progressConfigMap.name, etcdEndpoints.name]);
const electedLeases = new Set<string>([...agentLeases, 'kube-controller-manager', 'kube-scheduler']);

export function staleObjects(seen: RestoredObjects, moment: RestoreMoment): StaleObjects {
  const isOld = ({ metadata }: KubernetesObject): boolean => isBefore(metadata.creationTimestamp, moment.beganAt);
  const nodes = seen.nodes.filter((node) => isOld(node) && isOfNoMachine(node.metadata.name, moment.inventory));
  const records = seen.configMaps.filter(
    (each) =>
      isOld(each) && (lostRecords.has(each.metadata.name) || nodeOfJoinRecord(each.metadata.name) !== undefined),
  );
  const toRelease = seen.leases.filter(
    ({ metadata, spec }) =>
      metadata.namespace === systemNamespace &&
      electedLeases.has(metadata.name) &&
      (spec.holderIdentity ?? '') !== '' &&
      isBefore(spec.renewTime, moment.beganAt),
  );
  const tokens = seen.tokens.filter((secret) => secret['type'] === tokenSecretType && isOld(secret));
  return { toDelete: [...nodes, ...records, ...tokens], toRelease };
}

/** A master of the lost control plane, or a node that was taken out of the cluster after the snapshot. */
function isOfNoMachine(name: string, { machines, isClosed }: Inventory): boolean {
  const machine = machines.find((each) => each.name === name);
  return machine === undefined ? isClosed : machine.role !== 'worker';
}

function isBefore(time: string | undefined, moment: Date): boolean {
  return time !== undefined && Date.parse(time) < moment.getTime();
}

/** The pool tokens that config servers of masters accept: those of the asset folder, and others that still live. */
export function acceptedTokens(known: PoolTokenDigests, own: PoolTokenDigests, now: Date): PoolTokenDigests {
  const pools = [...new Set([...Object.keys(known), ...Object.keys(own)])];
  const ofPool = (pool: string): PoolTokenDigests[string] => {
    const first = own[pool] ?? [];
    const others = (known[pool] ?? []).filter(({ sha256 }) => first.every((each) => each.sha256 !== sha256));
    return [...first, ...others.filter(({ notAfter }) => Date.parse(notAfter) > now.getTime())];
  };
  return Object.fromEntries(pools.map((pool) => [pool, ofPool(pool)]));
}
