// What a certificate request is judged by: who is expected, who is here, which tokens are out. Read from the API and the
// inventory by the loop around the judgement; plain values, so that a judgement can be repeated on paper.
import type { BootstrapToken } from './bootstrap-token-secret.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

export interface ExpectedMachine {
  readonly name: string;
  readonly role: 'bootstrap' | 'master' | 'worker';
  readonly addresses: readonly string[];
}

export interface JoinInventory {
  /** Closed: nobody else may join. Open: whoever holds a token may. */
  readonly isClosed: boolean;
  readonly machines: readonly ExpectedMachine[];
}

export interface KnownNode {
  readonly name: string;
  /** Its kubelet reports. One that fell silent may be replaced by a machine of the same name. */
  readonly isLive: boolean;
  readonly addresses: readonly string[];
}

export interface JoinFacts {
  readonly now: Date;
  readonly inventory: JoinInventory;
  readonly nodes: readonly KnownNode[];
  readonly tokens: readonly BootstrapToken[];
  /** Addresses that move between machines: never in the certificate of one of them. */
  readonly virtualAddresses: readonly string[];
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[] | null;
}

/** The node controller sets Ready to Unknown when the kubelet has been silent for its grace period; nothing else is dead. */
export function knownNode(node: KubernetesObject): KnownNode {
  const { addresses } = (node['status'] ?? {}) as NodeStatus;
  return {
    name: node.metadata.name,
    isLive: conditionOf(node, 'Ready')?.status !== 'Unknown',
    addresses: (addresses ?? []).filter(({ type }) => type.endsWith('IP')).map(({ address }) => address),
  };
}
