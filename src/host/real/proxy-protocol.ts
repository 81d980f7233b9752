// The header of the PROXY protocol, version 2, in which a load balancer names its client: binary, before the first byte
// of anything else (haproxy's proxy-protocol.txt, §2.2). Its content is trusted, so it is read only on connections from
// a configured balancer, and there it must be present.
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface ProxySource {
  readonly address: string;
  readonly port: number;
}

export type ProxyHeader =
  /** Valid so far; at least `atLeast` bytes are needed to decide. */
  | { readonly status: 'incomplete'; readonly atLeast: number }
  | { readonly status: 'malformed'; readonly reason: string }
  /** `length` bytes belong to the header. Without a source it is a health check of the balancer itself. */
  | { readonly status: 'parsed'; readonly length: number; readonly source: ProxySource | undefined };

const signature = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a);
const fixedLength = 16;

/** Addresses need at most 36 bytes; the rest is for extensions, which are far below 2,000 bytes. */
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
  // Unspecified or a Unix socket: there is a client, but without an IP address.
  const size = addressLengths[family];
  if (size === undefined) return { status: 'parsed', length, source: undefined };
  if (transport === 2) return malformed('it speaks of datagrams');
  if (length < fixedLength + 2 * size + 4) return malformed('it is too short for its addresses');
  const octets = Array.from({ length: size }, (_, at) => view.getUint8(fixedLength + at));
  const port = view.getUint16(fixedLength + 2 * size);
  return { status: 'parsed', length, source: { address: plainAddress(ipaddr.fromByteArray(octets).toString()), port } };
}

/** One spelling per address: an IPv4 address from an IPv6 socket is written as IPv4. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function malformed(reason: string): ProxyHeader {
  return { status: 'malformed', reason };
}

export type ReadSource = { readonly source: ProxySource | undefined } | { readonly reason: string };

/**
 * Reads the header and leaves every byte after it in the socket. Calls `done` once, unless the connection ends before.
 */
export function readProxySource(socket: Socket, timeoutMs: number, done: (read: ReadSource) => void): void {
  let gathered: Buffer = Buffer.alloc(0);
  const finish = (read: ReadSource): void => {
    clearTimeout(timer);
    socket.off('readable', onReadable);
    done(read);
  };
  const timer = setTimeout(() => finish({ reason: `no header within ${timeoutMs} ms` }), timeoutMs);
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    gathered = gathered.length === 0 ? chunk : Buffer.concat([gathered, chunk]);
    const header = parseProxyHeader(gathered);
    if (header.status === 'incomplete') return;
    if (header.status === 'malformed') return finish({ reason: header.reason });
    if (gathered.length > header.length) socket.unshift(gathered.subarray(header.length));
    finish({ source: header.source });
  };
  socket.on('readable', onReadable);
  socket.once('close', () => clearTimeout(timer));
}
