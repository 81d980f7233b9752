// The door through which the network comes to us: an HTTP/1.1 server, with TLS or on loopback without. The contract
// owns what has to hold for every server: nothing is unlimited (headers, time, connections in all and per address, idle
// time), a silent client never keeps another from being served, new certificates take effect without closing anything.
export interface ServerRequest {
  readonly method: string;
  /** The request target as it was sent: neither decoded nor normalised. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly peer: Peer;
}

export interface Peer {
  readonly address: string;
  /** `balancer`: told by a configured load balancer, and to be believed. `connection`: whoever opened the connection. */
  readonly from: 'connection' | 'balancer';
}

export interface ServerAnswer {
  readonly status: number;
  /** `content-length` is added where it is missing. */
  readonly headers: Readonly<Record<string, string>>;
  /** Left out for HEAD, which still gets its length. */
  readonly body: Uint8Array;
}

export interface ServingPair {
  /** The leaf first, then what is needed to reach a CA. */
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface ServerLimits {
  readonly headerBytes: number;
  /** From the connection to the end of the TLS handshake. */
  readonly handshakeMs: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** Between two requests on one connection. */
  readonly idleMs: number;
  /** For a client to take an answer. */
  readonly answerMs: number;
  readonly connections: number;
  readonly connectionsPerAddress: number;
}

/** What happened to a connection that no request tells of. */
export type ConnectionTrouble =
  | { readonly kind: 'tls'; readonly address: string; readonly code: string }
  | { readonly kind: 'plain-http'; readonly address: string }
  | { readonly kind: 'proxy-header'; readonly address: string; readonly reason: string }
  | { readonly kind: 'bad-request'; readonly address: string; readonly code: string }
  | { readonly kind: 'too-slow'; readonly address: string; readonly phase: 'request' | 'answer' }
  /** A quiet connection was closed for a new one, or the new one was closed because none was quiet. */
  | {
      readonly kind: 'full';
      readonly address: string;
      readonly limit: 'all' | 'address';
      readonly closed: 'old' | 'new';
    };

export interface ServerOptions {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Without it the server speaks plain HTTP, which is for loopback alone. */
  readonly pair?: ServingPair;
  /** Connections from these addresses begin with a PROXY v2 header; nobody else's may. */
  readonly balancers: readonly string[];
  readonly limits: ServerLimits;
  /** Must not throw. */
  readonly answer: (request: ServerRequest) => Promise<ServerAnswer>;
  readonly onTrouble: (trouble: ConnectionTrouble) => void;
}

export interface RunningServer {
  readonly port: number;
  connections(): number;
  /** For connections from now on; those that are open keep theirs. The pair must match. */
  replacePair(pair: ServingPair): void;
  /** Takes no new connection, lets running requests end for at most `graceMs`, then closes what is left. */
  close(graceMs: number): Promise<void>;
}
