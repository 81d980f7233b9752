// The header of the PROXY protocol, version 2: how a load balancer says on whose behalf it connects. Binary, and before
// the first byte of anything else (haproxy's proxy-protocol.txt, §2.2). Whoever sends it is believed, so it is read only
// on connections from a configured balancer, where it must be present: a receiver never guesses.
import ipaddr from 'ipaddr.js';

export interface ProxySource {
  readonly address: string;
  readonly port: number;
}

export type ProxyHeader =
  /** Everything so far fits; there must be at least `atLeast` bytes before it can be decided. */
  | { readonly status: 'incomplete'; readonly atLeast: number }
  | { readonly status: 'malformed'; readonly reason: string }
  /** `length` bytes belong to the header. Without a source the balancer speaks for itself: its own health check. */
  | { readonly status: 'parsed'; readonly length: number; readonly source: ProxySource | undefined };

const signature = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a);
const fixedLength = 16;

/** Addresses take 36 bytes at most; what is above belongs to extensions, of which nobody sends two thousand bytes. */
export const proxyHeaderLimitBytes = 2048;

/** Bytes of the address part by family: source address, destination address, two ports. */
const addressLengths: Readonly<Record<number, number>> = { 1: 4, 2: 16 };

export function parseProxyHeader(bytes: Uint8Array): ProxyHeader {
  const known = Math.min(bytes.length, signature.length);
  for (let at = 0; at < known; at += 1) {
    if (bytes[at] !== signature[at]) return malformed('it does not begin with the signature of version 2');
  }
  if (bytes.length < fixedLength) return { status: 'incomplete', atLeast: fixedLength };

  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const versionAndCommand = view.getUint8(12);
  if (versionAndCommand >> 4 !== 2) return malformed(`it is version ${versionAndCommand >> 4}, not 2`);
  const command = versionAndCommand & 0x0f;
  if (command > 1) return malformed(`its command ${command} is unknown`);
  const length = fixedLength + view.getUint16(14);
  if (length > proxyHeaderLimitBytes) return malformed(`it announces ${length} bytes`);
  if (bytes.length < length) return { status: 'incomplete', atLeast: length };
  return command === 0 ? { status: 'parsed', length, source: undefined } : proxied(view, length);
}

function proxied(view: DataView, length: number): ProxyHeader {
  const family = view.getUint8(13) >> 4;
  const transport = view.getUint8(13) & 0x0f;
  if (family > 3 || transport > 2) return malformed(`its family ${family} or transport ${transport} is unknown`);
  // Unspecified, or a Unix socket: a client is there, but it has no address that we could use.
  const size = addressLengths[family];
  if (size === undefined) return { status: 'parsed', length, source: undefined };
  if (transport === 2) return malformed('it speaks of datagrams');
  if (length < fixedLength + 2 * size + 4) return malformed('it is too short for its addresses');
  const octets = Array.from({ length: size }, (_, at) => view.getUint8(fixedLength + at));
  const port = view.getUint16(fixedLength + 2 * size);
  return { status: 'parsed', length, source: { address: plainAddress(ipaddr.fromByteArray(octets).toString()), port } };
}

/** One spelling per address: an IPv4 address that came over an IPv6 socket is that IPv4 address. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function malformed(reason: string): ProxyHeader {
  return { status: 'malformed', reason };
}
