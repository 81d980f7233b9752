// The connection to one API server: its kubeconfig, its credentials, kept connections. HTTP/1.1 on purpose: over HTTP/2
// Node 26 writes frames without end, and takes all memory, when a request with a body is aborted at the wrong moment.
// Objects are sent as plain JSON.
import { dirname } from 'node:path';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { Host } from '../host/host.ts';
import type { HttpRequest, KeptConnections } from '../host/network.ts';
import { proxyFor } from '../host/proxy-variables.ts';
import type { FailedAnswer } from './api-failure.ts';
import { kubernetesErrors } from './errors.ts';
import { accessOf, type Kubeconfig, parseKubeconfig, tlsOf } from './read-kubeconfig.ts';

export interface ApiRequest {
  /** For messages, after "cannot": `create ConfigMap kube-system/bootstrap`. */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Default: `application/json`. */
  readonly accept?: string;
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

export type KubeconfigSource = { readonly path: string } | { readonly text: string };
export type ApiHost = Pick<Host, 'files' | 'network'>;

export interface ConnectionOptions {
  /** Environment variables that may name a proxy, for a kubeconfig that names none; without them there is no proxy. */
  readonly proxyVariables?: Readonly<Record<string, string | undefined>>;
}

export async function openConnection(
  host: ApiHost,
  source: KubeconfigSource,
  options: ConnectionOptions = {},
): Promise<Connection> {
  const name = 'path' in source ? source.path : 'the given text';
  const text = 'path' in source ? await host.files.readText(source.path) : source.text;
  try {
    return new Connection(host, parseKubeconfig(text, 'path' in source ? dirname(source.path) : '/'), options);
  } catch (cause) {
    throw kubernetesErrors.KUBECONFIG({ source: name, reason: String((cause as Error).message) }, { cause });
  }
}

export class Connection implements Disposable {
  readonly #host: ApiHost;
  readonly #kubeconfig: Kubeconfig;
  readonly #proxy: string | undefined;
  #kept: KeptConnections;

  constructor(host: ApiHost, kubeconfig: Kubeconfig, { proxyVariables = {} }: ConnectionOptions = {}) {
    this.#host = host;
    this.#kubeconfig = kubeconfig;
    this.#proxy = kubeconfig.cluster['proxy-url'] || proxyFor(kubeconfig.server, proxyVariables);
    this.#kept = this.#dial();
  }

  get server(): string {
    return this.#kubeconfig.server;
  }

  async send(request: ApiRequest): Promise<ApiAnswer> {
    return this.#guarded(request, async (message) => {
      const { status, headers, body } = await this.#kept.request(message);
      return { status, headers, text: Buffer.from(body).toString('utf8') };
    });
  }

  async open(request: ApiRequest): Promise<ApiStream> {
    return this.#guarded(request, async (message) => {
      const { body, ...head } = await this.#kept.open({ ...message, idleMs: request.deadlineMs });
      return { ...head, chunks: this.#read(request, body) };
    });
  }

  async *#read(request: ApiRequest, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) yield chunk;
    } catch (error) {
      throw this.#failure(request, error);
    }
  }

  async #guarded<T>(request: ApiRequest, run: (message: HttpRequest) => Promise<T>): Promise<T> {
    request.signal?.throwIfAborted();
    try {
      return await run(await this.#message(request));
    } catch (error) {
      throw this.#failure(request, error);
    }
  }

  #failure(request: ApiRequest, error: unknown): unknown {
    if (request.signal?.aborted) return request.signal.reason;
    if (!isError(error, hostErrors.NETWORK)) return error;
    // A connection that went silent or broke may be half open, and others with it: the next request dials anew.
    this.#kept[Symbol.dispose]();
    this.#kept = this.#dial();
    const asked = { what: request.what, server: this.server };
    const { failure, reason: said } = error.details;
    if (failure === 'timeout') {
      const reason = `did not answer within ${Math.round(request.deadlineMs / 100) / 10} s`;
      return kubernetesErrors.TIMEOUT({ ...asked, reason }, { cause: error });
    }
    return kubernetesErrors.UNREACHABLE({ ...asked, failure, reason: said }, { cause: error });
  }

  async #message(request: ApiRequest): Promise<HttpRequest> {
    const access = await accessOf(this.#host.files, this.#kubeconfig);
    const query = Object.entries(request.query ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const asked = query.length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
    return {
      url: `${this.server}${request.path}${asked}`,
      method: request.method,
      headers: {
        accept: request.accept ?? 'application/json',
        'user-agent': 'firstlight',
        ...(access.authorization === undefined ? {} : { authorization: access.authorization.reveal() }),
        ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      },
      timeoutMs: request.deadlineMs,
      ...tlsOf(access),
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    };
  }

  #dial(): KeptConnections {
    return this.#host.network.keepConnections(this.#proxy === undefined ? {} : { proxy: this.#proxy });
  }

  [Symbol.dispose](): void {
    this.#kept[Symbol.dispose]();
  }
}
