// The facts that a certificate request is decided by: the expected machines, the nodes, the tokens. Plain values, so
// that a decision can be repeated in a test.
import { inPlaceAnnotations } from '../contract/in-place.ts';
import type { Inventory } from '../contract/inventory.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { BootstrapToken } from './bootstrap-token-secret.ts';

export interface KnownNode {
  readonly name: string;
  /** Its kubelet reports. A node whose kubelet does not may be replaced by a machine of the same name. */
  readonly isLive: boolean;
  readonly addresses: readonly string[];
  readonly createdAt: Date;
  /** An in-place attempt works on it: its machine joins again under its own name. */
  readonly isClaimed: boolean;
}

export interface JoinFacts {
  readonly now: Date;
  readonly inventory: Inventory;
  readonly nodes: readonly KnownNode[];
  readonly tokens: readonly BootstrapToken[];
  /** Addresses that move between machines, and must not be in the certificate of one of them. */
  readonly virtualAddresses: readonly string[];
  /** Where machines have their addresses; empty if that is not known. */
  readonly machineNetworks: readonly string[];
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[] | null;
}

/** The node controller sets Ready to Unknown when the kubelet did not report for its grace period. */
export function knownNode(node: KubernetesObject): KnownNode {
  const { addresses } = (node['status'] ?? {}) as NodeStatus;
  return {
    name: node.metadata.name,
    isClaimed: (node.metadata.annotations?.[inPlaceAnnotations.claim] ?? '') !== '',
    isLive: conditionOf(node, 'Ready')?.status !== 'Unknown',
    createdAt: new Date(Date.parse(node.metadata.creationTimestamp ?? '') || 0),
    addresses: (addresses ?? []).filter(({ type }) => type.endsWith('IP')).map(({ address }) => address),
  };
}
