// The real network. `fetch` is not used, because it cannot use a private CA. Redirects are not followed.
import { lookup } from 'node:dns/promises';
import type { Agent as HttpAgent, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { FirstlightError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../errors.ts';
import type { HttpAnswer, HttpRequest, HttpStream, KeptConnections, Network, NetworkFailure } from '../network.ts';
import { listen } from './https-server.ts';
import { request as httpRequest, Agent as PlainAgent } from './node-http.ts';

const timeoutMsDefault = 30_000;
const maxBytesDefault = 64 * 1024 * 1024;

export function realNetwork(): Network {
  return {
    request: (request) => whole(request, ownConnection),
    open: (request) => open(request, ownConnection),
    keepConnections,
    resolve: async (name) => {
      const answers = await lookup(name, { all: true }).catch((error: unknown) => {
        throw failure(name, error);
      });
      return answers.map((answer) => answer.address);
    },
    probe,
    relay,
    listen,
  };
}

/** The agent of a request; `false` is Node's value for one connection without a pool. */
type Agents = (request: HttpRequest, isTls: boolean) => HttpAgent | false;

const ownConnection: Agents = ({ proxy }, isTls) => (proxy === undefined ? false : newAgent(isTls, { proxy }));

/** Further requests wait for a free connection: more handshakes would cost more and give no earlier answers. */
const keptConnectionsMax = 64;

function newAgent(isTls: boolean, { proxy, keepAlive = false }: { proxy?: string | undefined; keepAlive?: boolean }) {
  const options = {
    keepAlive,
    ...(keepAlive ? { maxSockets: keptConnectionsMax } : {}),
    ...(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
  };
  return isTls ? new HttpsAgent(options) : new PlainAgent(options);
}

function keepConnections({ proxy }: { readonly proxy?: string } = {}): KeptConnections {
  const kept = { tls: newAgent(true, { proxy, keepAlive: true }), plain: newAgent(false, { proxy, keepAlive: true }) };
  const agents: Agents = (_, isTls) => (isTls ? kept.tls : kept.plain);
  return {
    request: (request) => whole(request, agents),
    open: (request) => open(request, agents),
    [Symbol.dispose]: () => {
      for (const agent of [kept.tls, kept.plain]) {
        agent.maxFreeSockets = 0;
        for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
      }
    },
  };
}

async function open(request: HttpRequest, agents: Agents): Promise<HttpStream> {
  const message = await exchange(request, request.timeoutMs ?? timeoutMsDefault, agents);
  return { ...head(message), body: streamed(message, request) };
}

async function whole(request: HttpRequest, agents: Agents): Promise<HttpAnswer> {
  const timeoutMs = request.timeoutMs ?? timeoutMsDefault;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
  const message = await exchange({ ...request, signal }, timeoutMs, agents);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of streamed(message, { ...request, signal })) {
    size += chunk.length;
    if (size > (request.maxBytes ?? maxBytesDefault)) {
      message.destroy();
      throw networkError(
        request.url,
        'too-large',
        `the answer is larger than ${request.maxBytes ?? maxBytesDefault} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return { ...head(message), body: Buffer.concat(chunks) };
}

async function exchange(request: HttpRequest, timeoutMs: number, agents: Agents): Promise<IncomingMessage> {
  const isTls = new URL(request.url).protocol === 'https:';
  for (;;) {
    const stale: { isReused: boolean } = { isReused: false };
    try {
      return await attempt(request, { timeoutMs, agent: agents(request, isTls), stale });
    } catch (error) {
      // The server may have closed a kept connection just before its reuse: a request that changes nothing is sent
      // again. Each attempt removes one such connection, so the loop ends.
      if (!stale.isReused || !isSafe(request) || request.signal?.aborted) {
        throw failure(request.url, error, request.signal);
      }
    }
  }
}

const contexts = new Map<string, SecureContext>();
const contextsKept = 16;

/**
 * Parsing certificates and keys takes as long as the rest of a handshake, so it is done once for each set. The texts
 * are passed too, because a pool finds by them which connections a request may use.
 */
function trustOf({ ca, cert, key }: HttpRequest): SecureContextOptions & { readonly secureContext?: SecureContext } {
  if (ca === undefined && cert === undefined && key === undefined) return {};
  const given = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  const name = [ca, cert, key].join('\n');
  const known = contexts.get(name);
  if (known !== undefined) return { ...given, secureContext: known };
  const made = createSecureContext(given);
  const [oldest] = contexts.keys();
  if (contexts.size >= contextsKept && oldest !== undefined) contexts.delete(oldest);
  contexts.set(name, made);
  return { ...given, secureContext: made };
}

const isSafe = ({ method = 'GET' }: HttpRequest): boolean => method === 'GET' || method === 'HEAD';

interface Attempt {
  readonly timeoutMs: number;
  readonly agent: HttpAgent | false;
  /** Set if a kept connection broke before an answer came. */
  readonly stale: { isReused: boolean };
}

function attempt(request: HttpRequest, { timeoutMs, agent, stale }: Attempt): Promise<IncomingMessage> {
  const url = new URL(request.url);
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = start(url, {
      method: request.method ?? 'GET',
      headers: {
        ...(request.connectTo === undefined ? {} : { host: url.host }),
        // Node omits it for DELETE; then a kept connection would read the body as the next request.
        ...(request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) }),
        ...request.headers,
      },
      agent,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      ...(url.protocol === 'https:' ? trustOf(request) : {}),
      ...(request.connectTo === undefined
        ? {}
        : { hostname: request.connectTo.host, port: request.connectTo.port, servername: url.hostname }),
      ...(request.serverName === undefined ? {} : { servername: request.serverName }),
      ...(request.isInsecure === true ? { rejectUnauthorized: false } : {}),
    });
    const timer = setTimeout(
      () => outgoing.destroy(networkError(request.url, 'timeout', `no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    outgoing.on('response', (message) => {
      clearTimeout(timer);
      resolve(message);
    });
    outgoing.on('error', (error) => {
      clearTimeout(timer);
      stale.isReused =
        outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(String((error as NodeJS.ErrnoException).code));
      reject(error);
    });
    outgoing.end(request.body);
  });
}

async function* streamed(message: IncomingMessage, request: HttpRequest): AsyncGenerator<Uint8Array> {
  const idleMs = request.idleMs ?? timeoutMsDefault;
  message.setTimeout(idleMs, () =>
    message.destroy(networkError(request.url, 'timeout', `the answer stopped for ${idleMs} ms`)),
  );
  try {
    for await (const chunk of message as AsyncIterable<Buffer<ArrayBuffer>>) {
      yield chunk;
      if (request.releasesChunks === true) release(chunk);
    }
  } catch (error) {
    throw failure(request.url, error, request.signal);
  }
}

/** Detaches the buffer, which frees the memory at once. A chunk that shares its buffer with others is left as it is. */
function release(chunk: Buffer<ArrayBuffer>): void {
  if (chunk.byteLength > 0 && chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0);
}

function head(message: IncomingMessage): Omit<HttpStream, 'body'> {
  const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)] as const);
  return { status: message.statusCode ?? 0, headers: Object.fromEntries(headers) };
}

const relayConnectMs = 10_000;

function relay(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.setTimeout(relayConnectMs, () =>
      socket.destroy(networkError(`${host}:${port}`, 'timeout', `no connection within ${relayConnectMs} ms`)),
    );
    socket.on('connect', () => {
      socket.setTimeout(0);
      process.stdin.pipe(socket).pipe(process.stdout);
    });
    // Whoever ends the relay has no use for what was under way.
    socket.on('error', (error) => (signal.aborted ? resolve() : reject(failure(`${host}:${port}`, error))));
    socket.on('close', () => {
      // It would keep the process until whoever writes there ends.
      process.stdin.destroy();
      resolve();
    });
  });
}

function probe(host: string, port: number, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.setTimeout(timeoutMs, () =>
      socket.destroy(networkError(`${host}:${port}`, 'timeout', `no connection within ${timeoutMs} ms`)),
    );
    socket.on('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', (error) => reject(failure(`${host}:${port}`, error)));
  });
}

function failure(target: string, error: unknown, signal?: AbortSignal): FirstlightError | Error {
  if (signal?.aborted && signal.reason instanceof Error) {
    if (signal.reason.name !== 'TimeoutError') return signal.reason;
    return networkError(target, 'timeout', 'no answer in time', error);
  }
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === 'FirstlightError') return error as FirstlightError;
  if (name === 'AbortError' || name === 'TimeoutError')
    return networkError(target, 'timeout', 'no answer in time', error);
  const [kind, reason] = networkFailureOf(code ?? '', message);
  return networkError(target, kind, reason, error);
}

function networkError(target: string, kind: NetworkFailure, reason: string, cause?: unknown): FirstlightError {
  return hostErrors.NETWORK({ target, failure: kind, reason }, cause === undefined ? {} : { cause });
}

const failuresByCode: Readonly<Record<string, readonly [NetworkFailure, string]>> = {
  ENOTFOUND: ['dns', 'the name does not resolve'],
  EAI_AGAIN: ['dns', 'the name server does not answer'],
  ECONNREFUSED: ['refused', 'connection refused'],
  EHOSTUNREACH: ['unreachable', 'no route to the host'],
  ENETUNREACH: ['unreachable', 'no route to the network'],
  ETIMEDOUT: ['timeout', 'the connection timed out'],
  ECONNRESET: ['reset', 'the connection was reset'],
  EPIPE: ['reset', 'the connection was closed'],
};

const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_|DEPTH_|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH)/;

/** The kind of failure and a sentence for it; `message` if the code is not in the table. */
export function networkFailureOf(code: string, message: string): readonly [NetworkFailure, string] {
  return failuresByCode[code] ?? [tlsCodes.test(code) ? 'tls' : 'protocol', message];
}
