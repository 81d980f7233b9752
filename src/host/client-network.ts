// By what a client is counted. One IPv4 address is one client; of IPv6, whoever has one address usually has its whole
// /64, so that a limit per address would limit nothing.
import ipaddr from 'ipaddr.js';

const ipv6PrefixBytes = 8;
/** Most addresses, and there is nothing to parse: the server tells them in this form. */
const plainIpv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** The same text for all addresses that count as one client. A text that is no address is its own client. */
export function clientNetwork(address: string): string {
  if (plainIpv4.test(address) || !ipaddr.isValid(address)) return address;
  const read = ipaddr.process(address);
  if (read.kind() === 'ipv4') return read.toString();
  const prefix = read.toByteArray().slice(0, ipv6PrefixBytes);
  return `${ipaddr.fromByteArray([...prefix, ...Array<number>(16 - ipv6PrefixBytes).fill(0)]).toString()}/64`;
}
