// Decides which routes to other nodes' pods a machine sets: a pure function. A Node object is written by its own
// kubelet, so it only proposes. The facts that it is judged by come from the machine's own settings and from the
// inventory, which no node can write. What a hostile Node asks for costs only that Node its route.
import ipaddr from 'ipaddr.js';
import { canonicalAddress, hasAddress, isAddressIn, isOutside } from '../contract/addresses.ts';
import type { Inventory } from '../contract/inventory.ts';
import type { PodRouteFacts } from '../contract/node-settings.ts';
import { internalAddressesOf, podRangesOf } from '../kubernetes/node-object.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

export interface Route {
  readonly range: string;
  readonly via: string;
}

export interface RoutePlan {
  readonly routes: readonly Route[];
  /** One sentence per route that a Node asked for and does not get. */
  readonly refused: readonly string[];
}

export interface RouteJudgement extends PodRouteFacts {
  /** Of this machine. */
  readonly own: { readonly name: string; readonly addresses: readonly string[] };
  readonly machineNetworks: readonly string[];
  readonly inventory: Inventory;
}

/** Of two nodes that ask for the same range or address, the older one has it; this node's own ranges come first. */
export function planRoutes(nodes: readonly KubernetesObject[], facts: RouteJudgement): RoutePlan {
  const ownRanges = nodes
    .filter(({ metadata }) => metadata.name === facts.own.name)
    .flatMap(podRangesOf)
    .filter(isRange);
  const taken: Taken[] = ownRanges.map((range) => ({ name: facts.own.name, range }));
  const routes: Route[] = [];
  const refused: string[] = [];
  const peers = nodes.filter(({ metadata }) => metadata.name !== facts.own.name).toSorted(compareAge);
  for (const peer of peers) {
    const { name } = peer.metadata;
    for (const range of podRangesOf(peer)) {
      const wrong = rangeDoubt(range, facts) ?? takenDoubt(range, taken);
      const gateway = wrong === undefined ? gatewayTo(peer, { range, routes: taken, facts }) : { doubt: wrong };
      if ('doubt' in gateway) {
        refused.push(`${name} gets no route for ${shown(range)}: ${gateway.doubt}`);
        continue;
      }
      taken.push({ name, range, via: gateway.via });
      routes.push({ range, via: gateway.via });
    }
  }
  return { routes, refused };
}

interface Taken {
  readonly name: string;
  readonly range: string;
  readonly via?: string;
}

function compareAge({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): number {
  const made = (text: string | undefined): number => Date.parse(text ?? '') || 0;
  return made(a.creationTimestamp) - made(b.creationTimestamp) || (a.name < b.name ? -1 : 1);
}

function rangeDoubt(range: string, { podNetwork, podPrefix }: PodRouteFacts): string | undefined {
  const mistake = `it is not one part, of the size /${podPrefix}, of the pod network ${podNetwork}`;
  if (!isRange(range)) return mistake;
  const [first, prefix] = ipaddr.parseCIDR(range);
  const network = first.kind() === 'ipv6' ? ipaddr.IPv6 : ipaddr.IPv4;
  // Another spelling, such as one with bits of a host, would be another route to the kernel than to this comparison.
  const isCanonical = `${network.networkAddressFromCIDR(range).toString()}/${prefix}` === range;
  return isCanonical && prefix === podPrefix && isAddressIn(first.toString(), podNetwork) ? undefined : mistake;
}

function isRange(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

/** Ranges of one size overlap only if they are equal; this node's own range may be of any size. */
function takenDoubt(range: string, taken: readonly Taken[]): string | undefined {
  const [first] = range.split('/');
  const holder = taken.find(
    (other) => isAddressIn(first ?? '', other.range) || isAddressIn(startOf(other.range), range),
  );
  return holder === undefined ? undefined : `${holder.name} has it`;
}

function startOf(range: string): string {
  return range.split('/')[0] ?? '';
}

type Gateway = { readonly via: string } | { readonly doubt: string };

/** Where the inventory lists the machine, the address comes from there: what the node reports changes nothing. */
function gatewayTo(
  peer: KubernetesObject,
  {
    range,
    routes,
    facts,
  }: { readonly range: string; readonly routes: readonly Taken[]; readonly facts: RouteJudgement },
): Gateway {
  const { name } = peer.metadata;
  const { own, machineNetworks, apiVips, inventory } = facts;
  const listed = inventory.machines.find((machine) => machine.name === name);
  if (listed === undefined && inventory.isClosed) return { doubt: 'it is not in the inventory' };
  const reported = internalAddressesOf(peer).filter((address) => ipaddr.isValid(address));
  const known = listed === undefined ? reported : preferred(listed.addresses, reported);
  const address = known.find((candidate) => familyOf(candidate) === familyOf(range));
  if (address === undefined) return { doubt: `it has no address of the family of this range` };
  const via = canonicalAddress(address);
  if (isOutside(via, machineNetworks)) {
    return { doubt: `its address ${via} is not in the machine network ${machineNetworks.join(', ')}` };
  }
  if (hasAddress(own.addresses, via)) return { doubt: `${via} is the address of this machine` };
  if (hasAddress(apiVips, via)) return { doubt: `${via} is the address of the load balancer` };
  const holder = routes.find((other) => other.name !== name && other.via === via);
  return holder === undefined ? { via } : { doubt: `${via} is the address of ${holder.name}` };
}

/** All addresses of the inventory; of several, those that the node reports come first. */
function preferred(listed: readonly string[], reported: readonly string[]): readonly string[] {
  const isReported = (address: string): boolean => hasAddress(reported, address);
  return [...listed.filter(isReported), ...listed.filter((address) => !isReported(address))];
}

export const routeFamilies = ['-4', '-6'] as const;
export type RouteFamily = (typeof routeFamilies)[number];

export function familyOf(address: string): RouteFamily {
  return address.includes(':') ? '-6' : '-4';
}

/** A node wrote it; it goes to logs and terminals. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
