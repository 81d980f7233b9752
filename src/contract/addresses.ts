// Addresses that the install-config and the platform must choose alike, and the one way in which addresses are
// compared: two spellings of one address must never pass for two addresses.
import ipaddr from 'ipaddr.js';

/** Where the machines of a local cluster have their addresses, unless the user says otherwise. */
export const defaultMachineNetwork = '10.99.0.0/24';

/** The name server of pods is the tenth address of the Services. Kubelets, DNS and whoever renders for them say so. */
export function dnsAddressIn(serviceNetwork: string): string {
  const [network] = ipaddr.IPv4.parseCIDR(serviceNetwork);
  const bytes = network.toByteArray();
  return [...bytes.slice(0, 3), (bytes[3] ?? 0) + 10].join('.');
}

/**
 * One spelling for one address: `::1`, not `0:0::1`, and an IPv4 address inside IPv6 (`::ffff:10.0.0.1`) as the IPv4
 * address that Go, OpenSSL and the kernel take it for. Throws for a text that is no address: callers check before.
 */
export function canonicalAddress(address: string): string {
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6' ? (parsed as ipaddr.IPv6).toRFC5952String() : parsed.toString();
}

/** A text that is no address, as a node may report it, is equal to none. */
export function isSameAddress(a: string, b: string): boolean {
  return ipaddr.isValid(a) && ipaddr.isValid(b) && canonicalAddress(a) === canonicalAddress(b);
}

/** Whether one of these is this address. Nodes report theirs unchecked: a text that is no address is nobody's. */
export function hasAddress(addresses: readonly string[], wanted: string): boolean {
  return addresses.some((address) => isSameAddress(address, wanted));
}

/** Never where no network is known. */
export function isOutside(address: string, networks: readonly string[]): boolean {
  return networks.length > 0 && !networks.some((network) => isAddressIn(address, network));
}

/** False for a text that is no address. `network` is a valid range. */
export function isAddressIn(address: string, network: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const [first, prefix] = ipaddr.parseCIDR(network);
  return parsed.kind() === first.kind() && parsed.match(first, prefix);
}
