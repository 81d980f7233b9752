// The way to one API server, on the official client: its kubeconfig, its credentials, its transport. The only file that
// imports it, and only when a connection is made: the import costs more than everything else a short command does.
// Objects travel as plain JSON: the client's typed models drop fields they do not know and lower-case names in paths.
import { dirname } from 'node:path';
import type { IsomorphicFetchHttpLibrary, KubeConfig, RequestContext } from '@kubernetes/client-node';
import type { Clock } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import { type FailedAnswer, failureOfConnection } from './api-failure.ts';
import { kubernetesErrors } from './errors.ts';

export interface ApiRequest {
  /** For messages, after "cannot": `create ConfigMap kube-system/bootstrap`. */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  /** The whole exchange; for a stream until its headers are there, then the longest silence. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

export type ApiAnswer = FailedAnswer;

export interface ApiStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends when the server does; throws KUBERNETES_TIMEOUT after a silence, KUBERNETES_UNREACHABLE when it breaks. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface Connection extends AsyncDisposable {
  readonly server: string;
  send(request: ApiRequest): Promise<ApiAnswer>;
  open(request: ApiRequest): Promise<ApiStream>;
}

export type KubeconfigSource = { readonly path: string } | { readonly text: string };

export async function openConnection(
  host: Pick<Host, 'clock' | 'files'>,
  source: KubeconfigSource,
): Promise<Connection> {
  const library = await import('@kubernetes/client-node');
  const config = new library.KubeConfig();
  const name = 'path' in source ? source.path : 'the given text';
  const text = 'path' in source ? await host.files.readText(source.path) : source.text;
  try {
    config.loadFromString(text);
  } catch (cause) {
    throw kubernetesErrors.KUBECONFIG({ source: name, reason: String((cause as Error).message) }, { cause });
  }
  if ('path' in source) config.makePathsAbsolute(dirname(source.path));
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) {
    throw kubernetesErrors.KUBECONFIG({ source: name, reason: 'its current context names no cluster' });
  }
  return new LibraryConnection({
    clock: host.clock,
    config,
    server: server.replace(/\/+$/, ''),
    transport: new library.IsomorphicFetchHttpLibrary(),
    newContext: (url, method) => new library.RequestContext(url, method),
  });
}

interface Parts {
  readonly clock: Clock;
  readonly config: KubeConfig;
  readonly server: string;
  readonly transport: IsomorphicFetchHttpLibrary;
  readonly newContext: (url: string, method: ApiRequest['method']) => RequestContext;
}

/** Of what the client fills in, the part that we look at. */
interface CurrentCredential {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>;

class LibraryConnection implements Connection {
  readonly server: string;
  readonly #parts: Parts;
  #kept: { readonly credential: string; readonly dispatcher: Dispatcher } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.server = parts.server;
  }

  async send(request: ApiRequest): Promise<ApiAnswer> {
    using limit = new Limit(this.#parts.clock, request);
    // Awaited here, or the limit would be disposed before it can strike.
    return await this.#guarded(request, limit, async () => {
      const answer = await this.#exchange(request, limit.signal);
      return { status: answer.httpStatusCode, headers: answer.headers, text: await answer.body.text() };
    });
  }

  async open(request: ApiRequest): Promise<ApiStream> {
    const limit = new Limit(this.#parts.clock, request);
    try {
      const answer = await this.#guarded(request, limit, () => this.#exchange(request, limit.signal));
      const stream = answer.body.stream() as AsyncIterable<Uint8Array> | null;
      return {
        status: answer.httpStatusCode,
        headers: answer.headers,
        chunks: this.#read(request, limit, stream ?? []),
      };
    } catch (error) {
      limit[Symbol.dispose]();
      throw error;
    }
  }

  async *#read(
    request: ApiRequest,
    limit: Limit,
    stream: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  ): AsyncGenerator<Uint8Array> {
    using _ = limit;
    limit.extend();
    try {
      for await (const chunk of stream) {
        limit.extend();
        yield chunk;
      }
    } catch (error) {
      throw this.#failure(request, limit, error);
    }
  }

  async #guarded<T>(request: ApiRequest, limit: Limit, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.#failure(request, limit, error);
    }
  }

  #failure(request: ApiRequest, limit: Limit, error: unknown): unknown {
    if (request.signal?.aborted) return request.signal.reason;
    // A connection that went silent or broke may be half open: the next request dials anew.
    this.#forget();
    const asked = { what: request.what, server: this.server };
    if (limit.isOver) {
      const reason = `did not answer within ${Math.round(request.deadlineMs / 100) / 10} s`;
      return kubernetesErrors.TIMEOUT({ ...asked, reason }, { cause: error });
    }
    return failureOfConnection(error, asked);
  }

  async #exchange(request: ApiRequest, signal: AbortSignal) {
    const context = this.#parts.newContext(`${this.server}${request.path}`, request.method);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) context.setQueryParam(name, value);
    }
    context.setHeaderParam('Accept', 'application/json');
    context.setHeaderParam('User-Agent', 'firstlight');
    if (request.body !== undefined) {
      context.setHeaderParam('Content-Type', request.contentType ?? 'application/json');
      context.setBody(JSON.stringify(request.body));
    }
    context.setSignal(signal);
    await this.#authenticate(context);
    return this.#parts.transport.send(context).toPromise();
  }

  /**
   * The client makes a fresh connection pool for every request, which costs a TLS handshake each time and leaves the old
   * one open. One pool is kept instead, as long as the credential it was made for is the current one: kubeconfigs that
   * point to files are read again by the client, so a rotated certificate is taken up by the next request.
   */
  async #authenticate(context: RequestContext): Promise<void> {
    const current: CurrentCredential = {};
    await this.#parts.config.applyToHTTPSOptions(current);
    const credential = [current.ca, current.cert, current.key].map(String).join('\n');
    if (this.#kept?.credential === credential) {
      // A token is read again for every request, too.
      for (const [name, value] of Object.entries(current.headers ?? {})) context.setHeaderParam(name, String(value));
      context.setDispatcher(this.#kept.dispatcher);
      return;
    }
    this.#forget();
    await this.#parts.config.applySecurityAuthentication(context);
    const dispatcher = context.getDispatcher();
    if (dispatcher !== undefined) this.#kept = { credential, dispatcher };
  }

  #forget(): void {
    const old = this.#kept?.dispatcher;
    this.#kept = undefined;
    // Requests that are under way on it may end first.
    void old?.close().catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const old = this.#kept?.dispatcher;
    this.#kept = undefined;
    await old?.destroy();
  }
}

/** Aborts when the caller does or when time is over; `extend` starts the time anew. */
class Limit implements Disposable {
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #over = new AbortController();
  #timer: Disposable;

  constructor(clock: Clock, { deadlineMs, signal }: Pick<ApiRequest, 'deadlineMs' | 'signal'>) {
    this.#clock = clock;
    this.#ms = deadlineMs;
    this.signal = signal === undefined ? this.#over.signal : AbortSignal.any([signal, this.#over.signal]);
    this.#timer = this.#start();
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  extend(): void {
    this.#timer[Symbol.dispose]();
    this.#timer = this.#start();
  }

  #start(): Disposable {
    return this.#clock.after(this.#ms, () => this.#over.abort(new Error('the deadline of the request has passed')));
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}
