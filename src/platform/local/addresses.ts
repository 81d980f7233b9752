// The addresses of a cluster's own network: .1 is the switch (gateway, name server, load balancer), machines get the
// addresses from .10 on. Only IPv4: the network is private to the cluster, and no packet of it leaves this host.
import ipaddr from 'ipaddr.js';
import { platformErrors } from '../errors.ts';
import { localTraits } from '../platform-traits.ts';

const switchOffset = localTraits.balancerOffset;
const firstMachineOffset = 10;

export interface MachineNetwork {
  readonly cidr: string;
  readonly prefixLength: number;
  /** First address, as a number. */
  readonly base: number;
  readonly size: number;
  /** Gateway, name server and load balancer. */
  readonly switchAddress: string;
}

export function parseMachineNetwork(cidr: string): MachineNetwork {
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr))
    throw platformErrors.BAD_NETWORK({ cidr, reason: 'not an IPv4 network' });
  const [address, prefixLength] = ipaddr.IPv4.parseCIDR(cidr);
  const size = 2 ** (32 - prefixLength);
  const base = toNumber(address.toString());
  if (base % size !== 0) throw platformErrors.BAD_NETWORK({ cidr, reason: 'the address has bits behind the prefix' });
  if (size < 32) throw platformErrors.BAD_NETWORK({ cidr, reason: 'smaller than /27' });
  return { cidr, prefixLength, base, size, switchAddress: toText(base + switchOffset) };
}

/** The lowest free machine address. */
export function nextAddress(network: MachineNetwork, taken: ReadonlySet<string>): string {
  for (let offset = firstMachineOffset; offset < network.size - 1; offset += 1) {
    const address = toText(network.base + offset);
    if (!taken.has(address)) return address;
  }
  throw platformErrors.NETWORK_FULL({ cidr: network.cidr });
}

/** Why a machine may not have this address, or undefined. */
export function machineAddressMistake(network: MachineNetwork, address: string): string | undefined {
  const offset = toNumber(address) - network.base;
  if (offset < 0 || offset >= network.size) return `outside of ${network.cidr}`;
  if (offset === 0 || offset === network.size - 1) return `the first or last address of ${network.cidr}`;
  if (offset === switchOffset) return 'the address of the switch';
  return undefined;
}

/** Name of the switch's end of the veth pair of a machine; unique because addresses are. */
export function portName(address: string): string {
  return `p${toNumber(address).toString(16).padStart(8, '0')}`;
}

/**
 * The hardware address of a machine follows from its address. Whoever knew the machine that had the address before
 * reaches the next one at once, instead of asking for half a minute where the old one was.
 */
export function hardwareAddress(address: string): string {
  const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return ['02', '00', ...bytes].join(':');
}

function toNumber(address: string): number {
  return address.split('.').reduce((number, byte) => number * 256 + Number(byte), 0);
}

function toText(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
