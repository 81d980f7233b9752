// IPv4 ranges as two numbers. IPv6 is refused with a sentence of its own: pods, Services and machines of a Firstlight
// cluster get IPv4 addresses, and a range nobody routes must not look accepted.
import ipaddr from 'ipaddr.js';

export interface AddressRange {
  /** The first address as an unsigned number. */
  readonly first: number;
  readonly prefix: number;
}

export const rangePattern = '^([0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{1,2}$';

const forbidden = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4'].map(readRange);

/** What is wrong with a range as written, or undefined. */
export function rangeMistake(text: string): string | undefined {
  if (ipaddr.IPv6.isValidCIDR(text)) return 'is an IPv6 range; Firstlight clusters use IPv4';
  if (!/^[0-9.]+\/[0-9]+$/.test(text) || !ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return 'is not an IPv4 range';
  const canonical = canonicalRange(text);
  if (canonical !== text) return `is not the first address of its range; that is ${canonical}`;
  if (forbidden.some((range) => overlap(range, readRange(text)))) {
    return 'holds addresses that no machine can have (loopback, link-local, multicast or reserved)';
  }
  return undefined;
}

/** What is wrong with an address as written, or undefined. */
export function addressMistake(text: string): string | undefined {
  if (ipaddr.IPv6.isValid(text)) return 'is an IPv6 address; Firstlight clusters use IPv4';
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? undefined : 'is not an IPv4 address';
}

function canonicalRange(text: string): string {
  return `${ipaddr.IPv4.networkAddressFromCIDR(text).toString()}/${Number(text.split('/')[1])}`;
}

/** Only for text that rangeMistake has passed. */
export function readRange(text: string): AddressRange {
  const [address, prefix] = ipaddr.IPv4.parseCIDR(text);
  return { first: toNumber(address), prefix };
}

/** Only for text that addressMistake has passed. */
export function readAddress(text: string): number {
  return toNumber(ipaddr.IPv4.parse(text));
}

function toNumber(address: ipaddr.IPv4): number {
  return address.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0);
}

export function sizeOf(range: AddressRange): number {
  return 2 ** (32 - range.prefix);
}

export function overlap(a: AddressRange, b: AddressRange): boolean {
  return a.first < b.first + sizeOf(b) && b.first < a.first + sizeOf(a);
}

/** Inside, and neither the network's own address nor the broadcast address. */
export function isUsableIn(address: number, range: AddressRange): boolean {
  return address > range.first && address < range.first + sizeOf(range) - 1;
}
