// The network: an HTTP(S) client with own CAs and deadlines, name lookups, probes of ports, and servers. Failures are
// HOST_NETWORK errors whose `failure` tells DNS, refusal, timeout and TLS apart.
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
  /** For the whole exchange; for `open` until the headers have come. Default 30 s. */
  readonly timeoutMs?: number;
  /** A streamed body fails after this time without a byte. Default 30 s. */
  readonly idleMs?: number;
  readonly signal?: AbortSignal;
  /**
   * For `open`: the memory of a chunk is freed when the next chunk is read, so that a large body does not fill the
   * memory until the next garbage collection. Only for readers that keep no chunk.
   */
  readonly releasesChunks?: boolean;
  /** Bytes of body kept by `request`; more is an error. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Connect here instead of where the URL's name points. */
  readonly connectTo?: { readonly host: string; readonly port: number };
  /** The name for SNI and in the certificate, if it is not the name in the URL. */
  readonly serverName?: string;
  /** Accept any certificate; only if a configuration file of the user says so. */
  readonly isInsecure?: boolean;
  /** Go through this HTTP proxy (`http://host:port`); see proxy-variables.ts. */
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

export type NetworkFailure =
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'too-large'
  | 'aborted';

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Like `request`, with the body as a stream. Neither follows redirects. */
  open(request: HttpRequest): Promise<HttpStream>;
}

/** Connections stay open between requests, one pool per credential. Disposing lets requests under way end. */
export interface KeptConnections extends HttpClient, Disposable {}

export interface Network extends HttpClient {
  /** Always HTTP/1.1: an abort closes the connection of one request and affects no other request. */
  keepConnections(options?: { readonly proxy?: string }): KeptConnections;
  resolve(name: string): Promise<readonly string[]>;
  /** Resolves after a TCP connection was opened and closed. */
  probe(host: string, port: number, timeoutMs: number): Promise<void>;
  /** Connects the standard input and output of this process with a port; resolves when the other side closes. */
  relay(host: string, port: number, signal: AbortSignal): Promise<void>;
  /** Resolves when the server accepts connections; throws HOST_LISTEN if the address or port cannot be used. */
  listen(options: ServerOptions): Promise<RunningServer>;
}
