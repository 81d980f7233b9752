// The contract of an HTTP/1.1 server, with TLS, or without on loopback. For every server: nothing is unlimited
// (headers, time, connections in total and per address, idle time), a silent client never keeps others from being
// served, and a new certificate takes effect without closing connections.
export interface ServerRequest {
  readonly method: string;
  /** The request target as it was sent: neither decoded nor normalised. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly peer: Peer;
  /** Where `bodyBytes` of the server allows one; `too-large` when it is larger. Absent: it was not read. */
  readonly body?: Uint8Array | 'too-large';
}

export interface Peer {
  readonly address: string;
  /** `balancer`: stated by a configured load balancer, which is trusted. `connection`: the peer of the connection. */
  readonly from: 'connection' | 'balancer';
}

export interface ServerAnswer {
  readonly status: number;
  /** `content-length` is added if it is missing. */
  readonly headers: Readonly<Record<string, string>>;
  /** Not sent for HEAD, which still gets its length. */
  readonly body: Uint8Array;
}

export interface ServingPair {
  /** The leaf first, then the intermediate certificates. */
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface ServerLimits {
  readonly headerBytes: number;
  /** From the TCP connection to the end of the TLS handshake. */
  readonly handshakeMs: number;
  /** From the first byte of a request to the end of its headers, and of its body where that is read. */
  readonly headersMs: number;
  /** Between two requests on one connection. */
  readonly idleMs: number;
  /** For a client to receive an answer. */
  readonly answerMs: number;
  readonly connections: number;
  readonly connectionsPerAddress: number;
}

/** Failures of connections that are not visible in a request. */
export type ConnectionTrouble =
  | { readonly kind: 'tls'; readonly address: string; readonly code: string }
  | { readonly kind: 'plain-http'; readonly address: string }
  | { readonly kind: 'proxy-header'; readonly address: string; readonly reason: string }
  | { readonly kind: 'bad-request'; readonly address: string; readonly code: string }
  | { readonly kind: 'too-slow'; readonly address: string; readonly phase: 'request' | 'answer' }
  /** A quiet connection was closed for a new one, or the new one was closed because no other was quiet. */
  | {
      readonly kind: 'full';
      readonly address: string;
      readonly limit: 'all' | 'address';
      readonly closed: 'old' | 'new';
    };

export interface ServerOptions {
  readonly address: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Without it the server speaks plain HTTP, which is only for loopback. */
  readonly pair?: ServingPair;
  /** Connections from these addresses must begin with a PROXY v2 header; others must not. */
  readonly balancers: readonly string[];
  readonly limits: ServerLimits;
  /** How much of the body of such a request is read; without it, and at 0, a body is left unread. */
  readonly bodyBytes?: (request: Pick<ServerRequest, 'method' | 'target'>) => number;
  /** Must not throw. */
  readonly answer: (request: ServerRequest) => Promise<ServerAnswer>;
  readonly onTrouble: (trouble: ConnectionTrouble) => void;
}

export interface RunningServer {
  readonly port: number;
  connections(): number;
  /** Applies to new connections; open ones keep their certificate. Key and certificate must match. */
  replacePair(pair: ServingPair): void;
  /** Accepts no new connections, waits at most `graceMs` for running requests, then closes the rest. */
  close(graceMs: number): Promise<void>;
}
