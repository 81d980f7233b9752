// Who may have the keys of a master: a machine that is expected as one, at the address that asks, and that does not run
// already. A pure function. A live node is no objection where the very token that is shown let it in: its kubelet may
// have joined before its agent asked for the keys.
import { hasAddress } from '../contract/addresses.ts';
import type { Inventory } from '../contract/inventory.ts';
import type { KnownNode } from './join-facts.ts';

export interface KeysAsked {
  /** Of the machine that asks; absent where a load balancer that is not declared may be in between. */
  readonly address?: string;
  /** The address that the token was issued to. A machine with several may ask for its keys from another of its own. */
  readonly issuedTo?: string | undefined;
  /** The node that the token let in. */
  readonly usedBy?: string | undefined;
}

export interface KeysFacts {
  readonly inventory: Inventory;
  /** None on the bootstrap machine, where no master runs yet. */
  readonly nodes: readonly KnownNode[];
}

export type KeysRecipient =
  /** `machine`: its name, where only one can be meant. */
  | { readonly status: 'expected'; readonly machine?: string }
  | {
      readonly status: 'refused';
      readonly reason: /** The token was issued to another machine. */
        | 'other-address'
        /** No master is expected at this address. */
        | 'not-listed'
        /** The master at this address runs, and has its keys. */
        | 'live';
    };

export function keysRecipient(asked: KeysAsked, { inventory, nodes }: KeysFacts): KeysRecipient {
  const { address, usedBy } = asked;
  const { issuedTo = address } = asked;
  const isTaken = ({ name }: { readonly name: string }): boolean =>
    name !== usedBy && nodes.some((node) => node.name === name && node.isLive);
  if (!inventory.isClosed) {
    if (address !== undefined && address !== issuedTo) return { status: 'refused', reason: 'other-address' };
    const [node] = nodes.filter(({ addresses }) => address !== undefined && hasAddress(addresses, address));
    if (node === undefined) return { status: 'expected' };
    return isTaken(node) ? { status: 'refused', reason: 'live' } : { status: 'expected', machine: node.name };
  }
  const listed = inventory.machines.filter(
    ({ role, addresses }) => role === 'master' && (address === undefined || hasAddress(addresses, address)),
  );
  if (listed.length === 0) return { status: 'refused', reason: 'not-listed' };
  const meant = listed.filter(({ addresses }) => issuedTo === undefined || hasAddress(addresses, issuedTo));
  if (meant.length === 0) return { status: 'refused', reason: 'other-address' };
  const free = meant.filter((machine) => !isTaken(machine));
  const [first] = free;
  if (first === undefined) return { status: 'refused', reason: 'live' };
  return { status: 'expected', ...(free.length === 1 ? { machine: first.name } : {}) };
}
