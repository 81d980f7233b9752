// Reads the PROXY v2 header from the front of a connection and leaves every byte after it to whoever comes next.
import type { Socket } from 'node:net';
import { parseProxyHeader, type ProxySource } from '../proxy-protocol.ts';

export type ReadSource = { readonly source: ProxySource | undefined } | { readonly reason: string };

/** Calls back once, unless the connection ends before. */
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
