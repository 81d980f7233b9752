// The real server, on node:https (node:http without a certificate). It limits what Node leaves unlimited. A client that
// is only slow gets no final status, as Node would send, but a closed connection, so that it tries again.
import type { Server as HttpServer, IncomingMessage, ServerOptions as NodeOptions, ServerResponse } from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { clientNetwork } from '../client-network.ts';
import { hostErrors } from '../errors.ts';
import type { Peer, RunningServer, ServerAnswer, ServerOptions, ServingPair } from '../https-server.ts';
import { tlsSuites } from '../tls-suites.ts';
import { awaitFirstMessage } from './client-hello.ts';
import { ConnectionLimiter, type LimitedConnection } from './connection-limiter.ts';
import { HandshakeQueue } from './handshake-queue.ts';
import { createServer as createHttpServer } from './node-http.ts';
import { plainAddress, readProxySource } from './proxy-protocol.ts';

interface Connection extends LimitedConnection {
  readonly socket: Socket;
  peer: Peer;
  /** It is in the handshake queue or with Node, whose limits then apply. */
  isAdmitted: boolean;
  /** A request is not answered yet. */
  isWaiting: boolean;
  /** The last answer, until the client has taken all of it. */
  response: ServerResponse | undefined;
}

/** Naming TLS 1.2 suites alone would leave out those of TLS 1.3. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  ...tlsSuites.map(({ opensslName }) => opensslName),
].join(':');

function secureContext(pair: ServingPair): { cert: string; key: string; minVersion: 'TLSv1.2'; ciphers: string } {
  return { cert: pair.certificatePem, key: pair.keyPem, minVersion: 'TLSv1.2', ciphers };
}

export async function listen(options: ServerOptions): Promise<RunningServer> {
  const server = createNodeServer(options);
  const limiter = new ConnectionLimiter<Connection>({
    limits: options.limits,
    nowMs: () => performance.now(),
    onFull: (address, limit, closed) => options.onTrouble({ kind: 'full', address, limit, closed }),
  });
  const guarded = guardConnections(server, limiter, options);
  serveRequests(server, { ...guarded, limiter, options });
  reportTrouble(server, { ...guarded, options });
  const port = await start(server, options);
  const sweep = setInterval(() => {
    limiter.closeStuck(options.limits.answerMs, ({ peer: { address } }) =>
      options.onTrouble({ kind: 'too-slow', address, phase: 'answer' }),
    );
    // Connections that have not sent the whole of their first message.
    limiter.closeQuiet(options.limits.handshakeMs, ({ isAdmitted }) => !isAdmitted);
  }, 1_000);
  return {
    port,
    connections: () => limiter.size,
    replacePair: (pair) => {
      if (server instanceof HttpsServer) server.setSecureContext(secureContext(pair));
    },
    close: async (graceMs) => {
      await close(server, limiter, graceMs);
      clearInterval(sweep);
    },
  };
}

type NodeServer = HttpServer | HttpsServer;

function createNodeServer({ pair, limits }: ServerOptions): NodeServer {
  const shared: NodeOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    // For the body too, where one is read.
    requestTimeout: limits.headersMs,
    optimizeEmptyRequests: true,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
  if (pair === undefined) return createHttpServer(shared);
  return createHttpsServer({
    ...shared,
    ...secureContext(pair),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.handshakeMs,
  });
}

/** Enough to keep every core busy: 1,000 machines with 0.1 s of latency are served in 3 s. Each slot costs memory. */
const handshakeSlots = 32;
const slotMs = 250;

/**
 * Runs the limiter, the PROXY header and the handshake queue before Node handles a connection. Node's own listener of
 * `connection` starts TLS or HTTP on a socket; it is removed from the server and called when the socket's turn comes.
 */
function guardConnections(server: NodeServer, limiter: ConnectionLimiter<Connection>, options: ServerOptions): Guarded {
  const balancers = new Set(options.balancers.map((address) => plainAddress(address)));
  const byPeer = new Map<string, Connection>();
  const queue = new HandshakeQueue<Connection>({ slots: handshakeSlots, slotMs });
  const begin = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const handOver = ({ socket }: Connection): void => {
    for (const listener of begin) listener.call(server, socket);
  };
  const handOverAtOnce = (connection: Connection): void => {
    connection.isAdmitted = true;
    handOver(connection);
  };
  const countAndAdmit = (connection: Connection): void => {
    const client = clientNetwork(connection.peer.address);
    if (!limiter.countUnder(connection, client)) return connection.close();
    // Without TLS there is no handshake to wait for; such a server is on loopback only.
    if (options.pair === undefined) return handOverAtOnce(connection);
    awaitFirstMessage(connection.socket, (judged) => {
      if (judged === 'too-long') return connection.close();
      connection.isAdmitted = true;
      queue.add(connection, client, () => handOver(connection));
    });
  };
  server.on('connection', (socket: Socket) => {
    const name = peerName(socket);
    const address = plainAddress(socket.remoteAddress ?? '');
    const connection = newConnection(socket, address);
    socket.on('error', () => {});
    if (!limiter.add(connection, address)) return void socket.destroy();
    byPeer.set(name, connection);
    socket.once('close', () => {
      limiter.remove(connection);
      queue.remove(connection);
      if (byPeer.get(name) === connection) byPeer.delete(name);
    });
    if (!balancers.has(address)) return countAndAdmit(connection);
    readProxySource(socket, options.limits.handshakeMs, (read) => {
      if ('reason' in read) {
        options.onTrouble({ kind: 'proxy-header', address, reason: read.reason });
        return void socket.destroy();
      }
      // Health checks of the balancer are not counted for an address and do not wait in the queue; otherwise the
      // balancer would take a busy server for a dead one.
      if (read.source === undefined) return handOverAtOnce(connection);
      connection.peer = { address: read.source.address, from: 'balancer' };
      countAndAdmit(connection);
    });
  });
  return { connections: (socket) => byPeer.get(peerName(socket)), queue };
}

function newConnection(socket: Socket, address: string): Connection {
  const connection: Connection = {
    socket,
    peer: { address, from: 'connection' },
    isAdmitted: false,
    isWaiting: false,
    response: undefined,
    close: () => socket.destroy(),
    isBusy: () => {
      if (connection.response?.writableFinished === true) connection.response = undefined;
      return connection.isWaiting || connection.response !== undefined;
    },
  };
  return connection;
}

interface Guarded {
  readonly connections: (socket: Socket) => Connection | undefined;
  readonly queue: HandshakeQueue<Connection>;
}

/** A TLS socket has the same address and port as its TCP connection, and no two open connections share both. */
function peerName(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

interface Serving extends Guarded {
  readonly limiter: ConnectionLimiter<Connection>;
  readonly options: ServerOptions;
}

function serveRequests(server: NodeServer, { limiter, queue, connections, options }: Serving): void {
  const onRequest = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { socket, method = '', url: target = '' } = message;
    const connection = connections(socket);
    if (connection === undefined) return void socket.destroy();
    connection.isWaiting = true;
    limiter.requestStarted(connection);
    queue.keepSlot(connection);
    const headers = message.headers as Readonly<Record<string, string>>;
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    const bodyBytes = hasBody ? (options.bodyBytes?.({ method, target }) ?? 0) : 0;
    const body = bodyBytes === 0 ? undefined : await readBody(message, response, bodyBytes);
    if (body === 'broken') return;
    const request = { method, target, headers, peer: connection.peer, ...(body === undefined ? {} : { body }) };
    const answer = await options.answer(request);
    const isUnread = hasBody && (body === undefined || body === 'too-large');
    if (isUnread || !server.listening) response.shouldKeepAlive = false;
    connection.isWaiting = false;
    connection.response = response;
    limiter.requestAnswered(connection);
    send(response, answer, isUnread);
    // A client that takes its answer slowly must not delay other handshakes.
    queue.remove(connection);
  };
  const listener = (message: IncomingMessage, response: ServerResponse): void => void onRequest(message, response);
  server.on('request', listener);
  // A client that asks whether to send its body gets the answer at once.
  server.on('checkContinue', listener);
}

/** `broken` when the client went away; its connection has reported that. */
async function readBody(
  message: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): Promise<Uint8Array | 'too-large' | 'broken'> {
  const isTooLarge = Number(message.headers['content-length'] ?? 0) > bytesMax;
  if (isTooLarge) return 'too-large';
  if (message.headers.expect !== undefined) response.writeContinue();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop must not destroy the connection: it still gets its answer.
    for await (const chunk of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > bytesMax) return 'too-large';
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    return 'broken';
  }
}

/** After the answer to a request whose body was not read to its end the connection is closed. */
function send(response: ServerResponse, { status, headers, body }: ServerAnswer, isUnread: boolean): void {
  // The client is gone; its connection has already reported that.
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': String(body.length) });
  const sent = response.req.method === 'HEAD' ? undefined : body;
  if (!isUnread) return void response.end(sent);
  if (sent === undefined) response.flushHeaders();
  else response.write(sent);
  endLater(response);
}

/** Time for a client that is still sending to read the answer and stop. */
const lingerMs = 1_000;

/** Closing a connection with unread bytes resets it, and the client may lose the answer. */
function endLater(response: ServerResponse): void {
  const timer = setTimeout(() => response.end(), lingerMs);
  response.once('close', () => clearTimeout(timer));
}

/** An https server also reports failed handshakes as client errors. */
function reportTrouble(server: NodeServer, { connections, options }: Omit<Serving, 'limiter' | 'queue'>): void {
  const { onTrouble } = options;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const { code = '' } = error;
    const address = connections(socket)?.peer.address ?? plainAddress(socket.remoteAddress ?? '');
    if (code === 'ERR_SSL_HTTP_REQUEST') onTrouble({ kind: 'plain-http', address });
    else if (/^ERR_(SSL|TLS)/.test(code)) onTrouble({ kind: 'tls', address, code });
    else if (code === 'ERR_HTTP_REQUEST_TIMEOUT') onTrouble({ kind: 'too-slow', address, phase: 'request' });
    if (!code.startsWith('HPE_') || !socket.writable) return void socket.destroy();
    onTrouble({ kind: 'bad-request', address, code });
    const status = code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
}

function start(server: NodeServer, { address, port }: ServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Readonly<Record<string, string>> = {
        EADDRINUSE: 'the port is taken',
        EADDRNOTAVAIL: 'this machine does not have the address',
        EACCES: 'permission denied',
      };
      const reason = reasons[error.code ?? ''] ?? error.message;
      reject(hostErrors.LISTEN({ address, port, reason }, { cause: error }));
    });
    // Without a host Node listens on all addresses, also without IPv6. The backlog is for 1,000 machines at once.
    const place = address === '::' ? {} : { host: address };
    server.listen({ ...place, port, backlog: 4096 }, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Node knows only connections that speak HTTP; the limiter also knows those in their handshake. */
function close(server: NodeServer, limiter: ConnectionLimiter<Connection>, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => limiter.clear('all'), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
    limiter.clear('quiet');
  });
}
