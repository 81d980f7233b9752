// The network: one HTTP(S) client that honours CAs and deadlines, name lookups, reachability probes, and servers.
// Failures are HOST_NETWORK errors that tell DNS, refused, timeout and TLS apart: callers decide, never guess.
import type { RunningServer, ServerOptions } from './https-server.ts';

export interface HttpRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Trust exactly these PEM certificates instead of the system's. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Whole exchange; for `open` until the headers are there. Default 30 s. */
  readonly timeoutMs?: number;
  /** No byte for this long ends a streamed body. Default 30 s. */
  readonly idleMs?: number;
  readonly signal?: AbortSignal;
  /**
   * For `open`: a chunk's memory goes back to the system as soon as the next chunk is asked for, so that a large body
   * does not pile up until the garbage collector comes by. Only for readers that keep no chunk.
   */
  readonly releasesChunks?: boolean;
  /** Bytes of body kept by `request`; more is an error. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Connect here instead of where the URL's name points. */
  readonly connectTo?: { readonly host: string; readonly port: number };
  /** The name to ask for and to expect in the certificate, where it is not the URL's. */
  readonly serverName?: string;
  /** Accept any certificate; only where a configuration file of the user says so. */
  readonly isInsecure?: boolean;
  /** Go through this HTTP proxy (`http://host:port`); see proxy.ts for who decides. */
  readonly proxy?: string;
}

export interface HttpHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}
export interface HttpAnswer extends HttpHead {
  readonly body: Uint8Array;
}
export interface HttpStream extends HttpHead {
  readonly body: AsyncIterable<Uint8Array>;
}

export type NetworkFailure = 'dns' | 'refused' | 'unreachable' | 'timeout' | 'tls' | 'reset' | 'protocol' | 'aborted';

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** The same with the body as a stream; redirects are followed by neither. */
  open(request: HttpRequest): Promise<HttpStream>;
}

/** Connections stay open between requests, one pool per credential. Disposing lets those under way end first. */
export interface KeptConnections extends HttpClient, Disposable {}

export interface Network extends HttpClient {
  /** HTTP/1.1, as everything here: aborting a request then closes its connection and touches no other request. */
  keepConnections(options?: { readonly proxy?: string }): KeptConnections;
  resolve(name: string): Promise<readonly string[]>;
  /** Resolves when a TCP connection was made (and closed again). */
  probe(host: string, port: number, timeoutMs: number): Promise<void>;
  /** Resolves when connections are accepted; an address that cannot be had is a HOST_LISTEN error. */
  listen(options: ServerOptions): Promise<RunningServer>;
}
