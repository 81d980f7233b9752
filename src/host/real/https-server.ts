// The real server, on node:https (node:http without a certificate). What Node leaves unlimited is limited here, and what
// it would answer with a final status is not: a client that is merely slow is cut off, so that it tries again.
import type { IncomingMessage, Server as HttpServer, ServerOptions as NodeOptions, ServerResponse } from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { hostErrors } from '../errors.ts';
import type { Peer, RunningServer, ServerAnswer, ServerOptions, ServingPair } from '../https-server.ts';
import { plainAddress, readProxySource } from './proxy-protocol.ts';
import { ConnectionGate, type Guest } from './connection-gate.ts';
import { createServer as createHttpServer } from './node-http.ts';
import { WaitingRoom } from './waiting-room.ts';

interface Connection extends Guest {
  readonly socket: Socket;
  peer: Peer;
  /** It is Node's, or about to be, and Node's own limits hold; until then only we know it. */
  hasEntered: boolean;
  /** Asked and not answered yet. */
  isWaiting: boolean;
  /** Of the last answer, until all of it is taken. */
  response: ServerResponse | undefined;
}

/** TLS 1.2: forward secrecy and authenticated encryption only. TLS 1.3 has nothing else. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

function secureContext(pair: ServingPair): { cert: string; key: string; minVersion: 'TLSv1.2'; ciphers: string } {
  return { cert: pair.certificatePem, key: pair.keyPem, minVersion: 'TLSv1.2', ciphers };
}

export async function listen(options: ServerOptions): Promise<RunningServer> {
  const server = createNodeServer(options);
  const gate = new ConnectionGate<Connection>({
    limits: options.limits,
    nowMs: () => performance.now(),
    onFull: (address, limit, closed) => options.onTrouble({ kind: 'full', address, limit, closed }),
  });
  const guarded = guardConnections(server, gate, options);
  serveRequests(server, { ...guarded, gate, options });
  reportTrouble(server, { ...guarded, options });
  const port = await start(server, options);
  const sweep = setInterval(() => {
    gate.closeStuck(options.limits.answerMs, ({ peer: { address } }) =>
      options.onTrouble({ kind: 'too-slow', address, phase: 'answer' }),
    );
    // Whoever came in a crowd and has not sent a byte.
    gate.closeQuiet(options.limits.handshakeMs, ({ hasEntered }) => !hasEntered);
  }, 1_000);
  return {
    port,
    connections: () => gate.size,
    replacePair: (pair) => {
      if (server instanceof HttpsServer) server.setSecureContext(secureContext(pair));
    },
    close: async (graceMs) => {
      await close(server, gate, graceMs);
      clearInterval(sweep);
    },
  };
}

type NodeServer = HttpServer | HttpsServer;

function createNodeServer({ pair, limits }: ServerOptions): NodeServer {
  const shared: NodeOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    // Nobody sends us a body, so a request is complete when its headers are.
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

/** Enough to keep every core busy, and a thousand machines a tenth of a second away are through in three; each costs memory. */
const handshakePlaces = 32;
const placeHeldMs = 250;

/**
 * Puts the gate, the PROXY header and the waiting room before Node's own handling of a connection. The server's one
 * listener of `connection` is what starts TLS or HTTP on a socket; it is called when it is the socket's turn.
 */
function guardConnections(server: NodeServer, gate: ConnectionGate<Connection>, options: ServerOptions): Guarded {
  const balancers = new Set(options.balancers.map((address) => plainAddress(address)));
  const byPeer = new Map<string, Connection>();
  const room = new WaitingRoom<Connection>({ places: handshakePlaces, heldMs: placeHeldMs });
  const begin = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const handOver = ({ socket }: Connection): void => {
    for (const listener of begin) listener.call(server, socket);
  };
  const admit = (connection: Connection): void => {
    const { socket } = connection;
    const enter = (): void => {
      connection.hasEntered = true;
      room.enter(connection, () => handOver(connection));
    };
    // In a crowd only who has sent something may wait for a place: silent ones would take them all.
    if (room.isCalm) enter();
    else whenReadable(socket, enter);
  };
  const seatAndAdmit = (connection: Connection): void => {
    if (gate.seat(connection, connection.peer.address)) admit(connection);
    else connection.close();
  };
  server.on('connection', (socket: Socket) => {
    const name = peerName(socket);
    const address = plainAddress(socket.remoteAddress ?? '');
    const connection = newConnection(socket, address);
    socket.on('error', () => {});
    if (!gate.enter(connection, address)) return void socket.destroy();
    byPeer.set(name, connection);
    socket.once('close', () => {
      gate.leave(connection);
      room.leave(connection);
      if (byPeer.get(name) === connection) byPeer.delete(name);
    });
    if (!balancers.has(address)) return seatAndAdmit(connection);
    readProxySource(socket, options.limits.handshakeMs, (read) => {
      if ('reason' in read) {
        options.onTrouble({ kind: 'proxy-header', address, reason: read.reason });
        return void socket.destroy();
      }
      // The balancer's own health checks are not a machine: they have no share that could be used up, and do not wait
      // behind a crowd, or the balancer would take a server that is busy for one that is dead.
      if (read.source === undefined) {
        connection.hasEntered = true;
        return handOver(connection);
      }
      connection.peer = { address: read.source.address, from: 'balancer' };
      seatAndAdmit(connection);
    });
  });
  return { connections: (socket) => byPeer.get(peerName(socket)), room };
}

function newConnection(socket: Socket, address: string): Connection {
  const connection: Connection = {
    socket,
    peer: { address, from: 'connection' },
    hasEntered: false,
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
  readonly room: WaitingRoom<Connection>;
}

/** The bytes stay where they are: TLS and HTTP take what a socket has already read. */
function whenReadable(socket: Socket, call: () => void): void {
  if (socket.readableLength > 0) return call();
  const onReadable = (): void => {
    if (socket.readableLength === 0) return;
    socket.off('readable', onReadable);
    call();
  };
  socket.on('readable', onReadable);
}

/** A TLS socket has the addresses of the connection it runs over, and no two open connections share them. */
function peerName(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

interface Serving extends Guarded {
  readonly gate: ConnectionGate<Connection>;
  readonly options: ServerOptions;
}

function serveRequests(server: NodeServer, { gate, room, connections, options }: Serving): void {
  const onRequest = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { socket, method = '', url: target = '' } = message;
    const connection = connections(socket);
    if (connection === undefined) return void socket.destroy();
    connection.isWaiting = true;
    gate.asked(connection);
    room.stay(connection);
    const headers = message.headers as Readonly<Record<string, string>>;
    const answer = await options.answer({ method, target, headers, peer: connection.peer });
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    if (hasBody || !server.listening) response.shouldKeepAlive = false;
    connection.isWaiting = false;
    connection.response = response;
    gate.answered(connection);
    send(response, answer, hasBody);
    // A client that takes its answer slowly keeps no other from its handshake.
    room.leave(connection);
  };
  const listener = (message: IncomingMessage, response: ServerResponse): void => void onRequest(message, response);
  server.on('request', listener);
  // A client that asks before it sends a body gets the answer instead.
  server.on('checkContinue', listener);
}

/** A body that the client announced is never read, and the connection ends with the answer. */
function send(response: ServerResponse, { status, headers, body }: ServerAnswer, hasBody: boolean): void {
  // The client is gone, and its connection has reported that already.
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': String(body.length) });
  const sent = response.req.method === 'HEAD' ? undefined : body;
  if (!hasBody) return void response.end(sent);
  if (sent === undefined) response.flushHeaders();
  else response.write(sent);
  endLater(response);
}

/** For a client that is sending to see the answer and stop by itself. */
const lingerMs = 1_000;

/** A connection that is closed while bytes wait unread is reset, and the answer may be lost with it. */
function endLater(response: ServerResponse): void {
  const timer = setTimeout(() => response.end(), lingerMs);
  response.once('close', () => clearTimeout(timer));
}

/** Failed handshakes arrive here too: an https server passes them on as client errors. */
function reportTrouble(server: NodeServer, { connections, options }: Omit<Serving, 'gate' | 'room'>): void {
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
    // Without a host Node takes every address, also where there is no IPv6. A thousand machines may start at once.
    const place = address === '::' ? {} : { host: address };
    server.listen({ ...place, port, backlog: 4096 }, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Node knows only connections that speak HTTP already; those that never finished their handshake are the gate's. */
function close(server: NodeServer, gate: ConnectionGate<Connection>, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => gate.clear('all'), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
    gate.clear('quiet');
  });
}
