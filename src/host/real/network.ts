// The real network. `fetch` is not used: it ignores a private CA. Redirects are never followed silently.
import { lookup } from 'node:dns/promises';
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { FirstlightError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../errors.ts';
import { networkFailureOf } from '../network-failure.ts';
import { listen } from './https-server.ts';
import type { HttpAnswer, HttpRequest, HttpStream, Network, NetworkFailure } from '../network.ts';

const timeoutMsDefault = 30_000;
const maxBytesDefault = 64 * 1024 * 1024;

export function realNetwork(): Network {
  return {
    request: whole,
    open: async (request) => {
      const message = await exchange(request, request.timeoutMs ?? timeoutMsDefault);
      return { ...head(message), body: streamed(message, request) };
    },
    resolve: async (name) => {
      const answers = await lookup(name, { all: true }).catch((error: unknown) => {
        throw failure(name, error);
      });
      return answers.map((answer) => answer.address);
    },
    probe,
    listen,
  };
}

async function whole(request: HttpRequest): Promise<HttpAnswer> {
  const timeoutMs = request.timeoutMs ?? timeoutMsDefault;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
  const message = await exchange({ ...request, signal }, timeoutMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of streamed(message, { ...request, signal })) {
    size += chunk.length;
    if (size > (request.maxBytes ?? maxBytesDefault)) {
      message.destroy();
      throw networkError(
        request.url,
        'protocol',
        `the answer is larger than ${request.maxBytes ?? maxBytesDefault} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return { ...head(message), body: Buffer.concat(chunks) };
}

function exchange(request: HttpRequest, timeoutMs: number): Promise<IncomingMessage> {
  const url = new URL(request.url);
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = start(url, {
      method: request.method ?? 'GET',
      headers: { ...(request.connectTo === undefined ? {} : { host: url.host }), ...request.headers },
      agent: proxyAgent(url, request.proxy),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      ...(request.ca === undefined ? {} : { ca: request.ca }),
      ...(request.cert === undefined ? {} : { cert: request.cert }),
      ...(request.key === undefined ? {} : { key: request.key }),
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
      reject(failure(request.url, error, request.signal));
    });
    outgoing.end(request.body);
  });
}

/** `false` is Node's word for a connection of its own, without a pool. */
function proxyAgent(url: URL, proxy: string | undefined): HttpAgent | false {
  if (proxy === undefined) return false;
  const proxyEnv = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
  return url.protocol === 'https:' ? new HttpsAgent({ proxyEnv }) : new HttpAgent({ proxyEnv });
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

/** Detaching frees the memory at once. A chunk that is only a part of its buffer shares it with others and is left alone. */
function release(chunk: Buffer<ArrayBuffer>): void {
  if (chunk.byteLength > 0 && chunk.byteLength === chunk.buffer.byteLength) chunk.buffer.transfer(0);
}

function head(message: IncomingMessage): Omit<HttpStream, 'body'> {
  const headers = Object.entries(message.headers).map(([name, value]) => [name, String(value)] as const);
  return { status: message.statusCode ?? 0, headers: Object.fromEntries(headers) };
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
  if (signal?.aborted && signal.reason instanceof Error && signal.reason.name !== 'TimeoutError') return signal.reason;
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
