// The Machine Config Server: a TLS port for machines and a loopback port for monitoring. It starts before there is
// anything to serve, and answers 503 until there is. Before it stops it fails its health check for a moment, so that
// load balancers send new connections elsewhere.
import type { Host } from '../host/host.ts';
import type { RunningServer, ServerAnswer, ServerLimits, ServerRequest, ServingPair } from '../host/https-server.ts';
import { refuse } from './answers.ts';
import { type ConfigSource, isServed } from './config-source.ts';
import { type AccessMode, createHandler, type Handler, isInPlace } from './handler.ts';
import type { InPlaceService } from './in-place-service.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { RateLimit } from './rate-limit.ts';
import { answerEntry, type Log, limitedLog, troubleEntry } from './server-log.ts';
import { certificateTrouble, type FollowedPair, followServingPair, type PairPaths } from './serving-pair.ts';
import type { TokenIssuer } from './token-issuer.ts';

const limits: ServerLimits = {
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
  /** How long it is unhealthy before it stops. */
  readonly leaveMs: number;
  readonly log: Log;
  /** The routes of the in-place bootstrapper; only masters have them. */
  readonly inPlace?: InPlaceService;
}

/** The pools that every cluster has. A broken pool of the user does not make the server unhealthy. */
const essentialPools = ['master', 'worker'];

/** After a token could not be recorded, the server is unhealthy for this long; then the next request tries again. */
const recordFailureMs = 3_000;

/** A master asks for its keys with one token, and repeats that after seconds. */
const lookUpRate = { burst: 4, everyMs: 15_000 };

/** Of a report of the in-place bootstrapper. Nobody else sends a body. */
const reportBytesMax = 64 * 1024;

/** Lines of the log that a client can cause and that say nothing was served. */
const warningRate = { burst: 100, everyMs: 1_000 };

/** For requests under way when the server stops. */
const graceMs = 5_000;

/** Serves until `signal` is aborted and the server is closed. That is how a server ends; it is not a failure. */
export async function runConfigServer(
  host: Host,
  options: ConfigServerOptions,
  signal: AbortSignal,
): Promise<{ readonly port: number }> {
  const { log } = options;
  const servers: RunningServer[] = [];
  await using pair = await followPair(host, options, (next) => servers[0]?.replacePair(next));
  const health = new Health(host, options.source, pair);
  const metrics = createMetrics({
    connections: () => servers[0]?.connections() ?? 0,
    outstandingTokens: () => options.issuer.outstanding(),
    certificateNotAfter: () => pair.current().certificate.notAfter,
    servedPools: () => servedPools(options.source),
    isHealthy: () => health.missing().length === 0,
  });
  try {
    const main = await startMain(host, options, { pair, health, metrics });
    servers.push(main);
    servers.push(await startLocal(host, options.localPort, { health, metrics }));
    announce(options, main.port, health.missing());
    await aborted(signal);
    health.isLeaving = true;
    log({ level: 'info', text: 'stopping', fields: { connections: main.connections() } });
    await host.clock.sleep(options.leaveMs);
    return { port: main.port };
  } finally {
    await Promise.all(servers.map((server) => server.close(graceMs)));
    if (signal.aborted) log({ level: 'info', text: 'stopped', fields: {} });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function followPair(
  host: Host,
  { log, certificatePath, keyPath }: ConfigServerOptions,
  replace: (pair: ServingPair) => void,
): Promise<FollowedPair> {
  return followServingPair(host, {
    certificatePath,
    keyPath,
    onReplaced: ({ pair, certificate: { fingerprint } }) => {
      replace(pair);
      log({ level: 'info', text: 'a new certificate is in use', fields: { fingerprint } });
    },
    onProblem: (problem) => log({ level: 'error', text: `kept the certificate in use: ${problem}`, fields: {} }),
  });
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

/** What keeps the server from its work, from what it has and what just happened. */
class Health {
  readonly #host: Host;
  readonly #source: ConfigSource;
  readonly #pair: FollowedPair;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  isLeaving = false;

  constructor(host: Host, source: ConfigSource, pair: FollowedPair) {
    this.#host = host;
    this.#source = source;
    this.#pair = pair;
  }

  recordFailed(): void {
    this.#failedAtMs = this.#host.clock.monotonicMs();
  }

  missing(): readonly string[] {
    const { pools } = this.#source.current();
    const missing = essentialPools.flatMap((pool) => {
      const state = pools.get(pool);
      return isServed(state) ? [] : [state?.missing ?? `nothing is known of pool ${pool}`];
    });
    const trouble = certificateTrouble(this.#pair.current().certificate, this.#host.clock.now());
    if (trouble !== undefined) missing.push(trouble);
    const sinceMs = this.#host.clock.monotonicMs() - this.#failedAtMs;
    if (sinceMs < recordFailureMs) missing.push('tokens could not be recorded');
    if (this.isLeaving) missing.push('the server is about to stop');
    return missing;
  }
}

interface Watching {
  readonly health: Health;
  readonly metrics: Metrics;
}

function startMain(
  host: Host,
  options: ConfigServerOptions,
  { pair, health, metrics }: Watching & { readonly pair: FollowedPair },
): Promise<RunningServer> {
  const { clock, files } = host;
  const { address, port, balancers, inPlace, ...shared } = options;
  const log = limitedLog(options.log, new RateLimit(clock, warningRate));
  const knowsAddresses = balancers.length > 0;
  const lookUps = new RateLimit(clock, lookUpRate);
  const handler = createHandler({
    ...shared,
    clock,
    files,
    lookUps,
    knowsAddresses,
    unhealthy: () => health.missing(),
    ...(inPlace === undefined ? {} : { inPlace: inPlace({ pair: () => pair.current().pair, knowsAddresses }) }),
  });
  const takesBody = (request: Pick<ServerRequest, 'method' | 'target'>): boolean =>
    inPlace !== undefined && isInPlace(request) && request.method === 'POST';
  return host.network.listen({
    address,
    port,
    balancers,
    limits,
    pair: pair.current().pair,
    bodyBytes: (request) => (takesBody(request) ? reportBytesMax : 0),
    answer: watchedHandler(host, handler, { log, metrics, health }),
    onTrouble: (trouble) => {
      metrics.trouble(trouble);
      log(troubleEntry(trouble));
    },
  });
}

/** Counts and logs every answer; an exception of the handler becomes an answer too. */
function watchedHandler(
  { clock }: Host,
  handler: Handler,
  { log, metrics, health }: Watching & { readonly log: Log },
): (request: ServerRequest) => Promise<ServerAnswer> {
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

function startLocal(host: Host, port: number, { health, metrics }: Watching): Promise<RunningServer> {
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
        const missing = health.missing();
        return json(missing.length === 0 ? 200 : 503, { status: missing.length === 0 ? 'ok' : 'not healthy', missing });
      }
      if (target !== '/metrics') return json(404, { status: 'not found', paths: ['/metrics', '/healthz', '/livez'] });
      const headers = { 'content-type': metrics.contentType };
      return { status: 200, headers, body: Buffer.from(await metrics.text()) };
    },
  });
}
