// The Machine Config Server: a TLS port for machines and a loopback port for monitoring. It starts before there is
// anything to serve, and answers 503 until there is. Before it stops it fails its health check for a moment, so that
// load balancers send new connections elsewhere.
import type { Host } from '../host/host.ts';
import type { RunningServer, ServerAnswer, ServerLimits, ServerRequest } from '../host/https-server.ts';
import { refuse } from './answers.ts';
import { type ConfigSource, isServed } from './config-source.ts';
import { type AccessMode, createHandler, type Handler } from './handler.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { answerEntry, type Log, troubleEntry } from './server-log.ts';
import { certificateTrouble, type FollowedPair, followServingPair, type PairPaths } from './serving-pair.ts';
import type { TokenIssuer } from './token-issuer.ts';

const defaultLimits: ServerLimits = {
  headerBytes: 16 * 1024,
  handshakeMs: 10_000,
  headersMs: 10_000,
  idleMs: 15_000,
  answerMs: 60_000,
  connections: 4_096,
  connectionsPerAddress: 256,
};

export interface ConfigServerOptions extends PairPaths {
  readonly access: AccessMode;
  readonly address: string;
  readonly port: number;
  readonly localPort: number;
  readonly balancers: readonly string[];
  readonly source: ConfigSource;
  readonly issuer: TokenIssuer;
  readonly keysFolder: string;
  readonly limits?: Partial<ServerLimits>;
  readonly log: Log;
}

export interface ConfigServer {
  readonly port: number;
  readonly localPort: number;
  /** Unhealthy for `leaveMs`, then closed within `graceMs`. */
  stop(times: { readonly leaveMs: number; readonly graceMs: number }): Promise<void>;
}

/** The pools that every cluster has. A broken pool of the user does not make the server unhealthy. */
const essentialPools = ['master', 'worker'];

/** After a token could not be recorded, the server is unhealthy for this long; then the next request tries again. */
const recordFailureMs = 3_000;

export async function startConfigServer(host: Host, options: ConfigServerOptions): Promise<ConfigServer> {
  const { log, source, issuer } = options;
  const limits = { ...defaultLimits, ...options.limits };
  let server: RunningServer | undefined;
  const pair = await followServingPair(host, {
    certificatePath: options.certificatePath,
    keyPath: options.keyPath,
    onReplaced: (read) => {
      server?.replacePair(read.pair);
      log({
        level: 'info',
        text: 'a new certificate is in use',
        fields: { fingerprint: read.certificate.fingerprint },
      });
    },
    onProblem: (problem) => log({ level: 'error', text: `kept the certificate in use: ${problem}`, fields: {} }),
  });
  const health = new Health(host, { source, pair });
  const unhealthy = (): readonly string[] => health.missing();
  const metrics = createMetrics({
    connections: () => server?.connections() ?? 0,
    outstandingTokens: () => issuer.outstanding(),
    certificateNotAfter: () => pair.current().certificate.notAfter,
    servedPools: () => servedPools(source),
    isHealthy: () => unhealthy().length === 0,
  });
  const { clock, files } = host;
  const handler = createHandler({ ...options, clock, files, unhealthy });
  const shared = { balancers: options.balancers, limits };
  server = await host.network.listen({
    ...shared,
    address: options.address,
    port: options.port,
    pair: pair.current().pair,
    answer: watchedHandler(host, handler, { log, metrics, health }),
    onTrouble: (trouble) => {
      metrics.trouble(trouble);
      log(troubleEntry(trouble));
    },
  });
  const local = await startLocal(host, { port: options.localPort, limits, metrics, unhealthy }).catch(
    async (error: unknown) => {
      await server?.close(0);
      await pair[Symbol.asyncDispose]();
      throw error;
    },
  );
  announce(options, server.port, unhealthy());
  return { port: server.port, localPort: local.port, stop: stopper(host, { server, local, pair, health, log }) };
}

function servedPools(source: ConfigSource): readonly string[] {
  return [...source.current().pools].filter(([, state]) => isServed(state)).map(([pool]) => pool);
}

function announce({ access, log, balancers }: ConfigServerOptions, port: number, missing: readonly string[]): void {
  if (access === 'open') {
    const text = 'OPEN: every client that reaches this port gets the configuration of every pool, and a token with it';
    log({ level: 'warn', text, fields: { access } });
  }
  log({ level: 'info', text: `serving on port ${port}`, fields: { port, access, balancers, missing } });
}

/** Whether the server can do its work now, from what it has and what just happened. */
class Health {
  readonly #host: Host;
  readonly #parts: { readonly source: ConfigSource; readonly pair: FollowedPair };
  #failedAtMs = Number.NEGATIVE_INFINITY;
  isLeaving = false;

  constructor(host: Host, parts: { readonly source: ConfigSource; readonly pair: FollowedPair }) {
    this.#host = host;
    this.#parts = parts;
  }

  recordFailed(): void {
    this.#failedAtMs = this.#host.clock.monotonicMs();
  }

  missing(): readonly string[] {
    const { pools } = this.#parts.source.current();
    const missing = essentialPools.flatMap((pool) => {
      const state = pools.get(pool);
      return isServed(state) ? [] : [state?.missing ?? `nothing is known of pool ${pool}`];
    });
    const trouble = certificateTrouble(this.#parts.pair.current().certificate, this.#host.clock.now());
    if (trouble !== undefined) missing.push(trouble);
    const sinceMs = this.#host.clock.monotonicMs() - this.#failedAtMs;
    if (sinceMs < recordFailureMs) missing.push('tokens could not be recorded');
    if (this.isLeaving) missing.push('the server is about to stop');
    return missing;
  }
}

interface Watching {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Health;
}

/** Counts and logs every answer; an exception of the handler becomes an answer too. */
function watchedHandler({ clock }: Host, handler: Handler, { log, metrics, health }: Watching) {
  return async (request: ServerRequest): Promise<ServerAnswer> => {
    const startMs = clock.monotonicMs();
    const { answer, decision } = await handler(request).catch((error: unknown) => {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { answer: refuse('internal'), decision: { route: 'other', reason: 'internal', detail } as const };
    });
    const ms = clock.monotonicMs() - startMs;
    if (decision.reason === 'token-not-recorded') health.recordFailed();
    metrics.answered(decision, answer.status, ms / 1000);
    log(answerEntry({ request, answer, decision, ms }));
    return answer;
  };
}

interface LocalOptions {
  readonly port: number;
  readonly limits: ServerLimits;
  readonly metrics: Metrics;
  readonly unhealthy: () => readonly string[];
}

function startLocal(host: Host, { port, limits, metrics, unhealthy }: LocalOptions): Promise<RunningServer> {
  const json = (status: number, value: unknown): ServerAnswer => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${JSON.stringify(value)}\n`),
  });
  return host.network.listen({
    address: '127.0.0.1',
    port,
    balancers: [],
    limits,
    onTrouble: () => {},
    answer: async ({ target }) => {
      if (target === '/livez') return json(200, { status: 'ok' });
      if (target === '/healthz') {
        const missing = unhealthy();
        return json(missing.length === 0 ? 200 : 503, { status: missing.length === 0 ? 'ok' : 'not healthy', missing });
      }
      if (target !== '/metrics') return json(404, { status: 'not found', paths: ['/metrics', '/healthz', '/livez'] });
      const headers = { 'content-type': metrics.contentType };
      return { status: 200, headers, body: Buffer.from(await metrics.text()) };
    },
  });
}

interface Stopping {
  readonly server: RunningServer;
  readonly local: RunningServer;
  readonly pair: FollowedPair;
  readonly health: Health;
  readonly log: Log;
}

function stopper(host: Host, { server, local, pair, health, log }: Stopping): ConfigServer['stop'] {
  return async ({ leaveMs, graceMs }) => {
    health.isLeaving = true;
    log({ level: 'info', text: 'stopping', fields: { connections: server.connections() } });
    await host.clock.sleep(leaveMs);
    await Promise.all([server.close(graceMs), local.close(graceMs)]);
    await pair[Symbol.asyncDispose]();
    log({ level: 'info', text: 'stopped', fields: {} });
  };
}
