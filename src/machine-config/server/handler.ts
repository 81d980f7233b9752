// One request, one answer: the same for files and for the API behind it. The order of questions is a rule: first who
// asks, then what. Until the token has been accepted, every path under /config/ and /keys/ gets the same bytes.
import type { Clock } from '../../host/clock.ts';
import type { Files } from '../../host/files.ts';
import type { ServerAnswer, ServerRequest } from '../../host/https-server.ts';
import type { SpecVersion } from '../../ignition/spec-version.ts';
import { type Negotiated, negotiateSpec } from './accept.ts';
import { bearerToken, judgePoolToken } from './access.ts';
import { configHeaders, give, refuse, type Refusal } from './answers.ts';
import { isBootstrapToken, tokenId, noToken } from './bootstrap-token.ts';
import { type ConfigSource, isServed, type ServedPool } from './config-source.ts';
import { readMasterKeys } from './master-keys.ts';
import { remembered } from './remembered.ts';
import { type BuiltConfig, buildServedConfig } from './served-config.ts';
import type { TokenIssuer } from './token-issuer.ts';

/** `token`: only who shows one. `open`: configs for whoever asks, keys for nobody; for machines that know no token. */
export type AccessMode = 'token' | 'open';

export interface HandlerOptions {
  readonly access: AccessMode;
  readonly source: ConfigSource;
  readonly issuer: TokenIssuer;
  readonly clock: Clock;
  readonly files: Files;
  /** Where the keys for masters are. */
  readonly keysFolder: string;
  /** What keeps the server from serving; empty when nothing does. */
  readonly unhealthy: () => readonly string[];
}

/** What was decided, for the log and the counters. Holds no secret: of a token only its public id. */
export interface Decision {
  readonly route: 'config' | 'keys' | 'healthz' | 'other';
  readonly reason: Refusal | 'served';
  readonly pool?: string;
  readonly config?: string;
  readonly spec?: SpecVersion;
  readonly tokenId?: string;
  /** What a person needs to know and the client is not told. */
  readonly detail?: string;
}

export interface Handled {
  readonly answer: ServerAnswer;
  readonly decision: Decision;
}

export type Handler = (request: ServerRequest) => Promise<Handled> | Handled;

export function createHandler(options: HandlerOptions): Handler {
  const built = new WeakMap<ServedPool, Map<SpecVersion, BuiltConfig>>();
  const builtFor = (served: ServedPool, version: SpecVersion): BuiltConfig => {
    const versions = built.get(served) ?? new Map<SpecVersion, BuiltConfig>();
    built.set(served, versions);
    const config = versions.get(version) ?? buildServedConfig(served, version);
    versions.set(version, config);
    return config;
  };
  const configOptions = { ...options, builtFor, negotiate: remembered(negotiateSpec, negotiationsKept) };
  return (request) => {
    const { target } = request;
    if (target.startsWith('/config/')) return handleConfig(request, configOptions);
    if (target.startsWith('/keys/')) return handleKeys(request, options);
    return handleOther(request, options);
  };
}

function refused(decision: Omit<Decision, 'reason'>, reason: Refusal, told?: string): Handled {
  const { detail = told } = decision;
  return {
    answer: refuse(reason, told),
    decision: { ...decision, reason, ...(detail === undefined ? {} : { detail }) },
  };
}

function isReading({ method }: ServerRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function handleOther(request: ServerRequest, { unhealthy }: HandlerOptions): Handled {
  const route = request.target === '/healthz' ? 'healthz' : 'other';
  if (!isReading(request)) return refused({ route }, 'method-not-allowed');
  if (route === 'other') return refused({ route }, 'not-found');
  const missing = unhealthy();
  if (missing.length > 0) return refused({ route, detail: missing.join('; ') }, 'not-healthy');
  return { answer: give([Buffer.from('{"status":"ok"}\n')]), decision: { route, reason: 'served' } };
}

/** Names that a pool can have (a Kubernetes object name); everything else in its place names nothing. */
const poolPath = /^\/config\/([a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?)$/;

interface ConfigOptions extends HandlerOptions {
  readonly builtFor: (served: ServedPool, version: SpecVersion) => BuiltConfig;
  readonly negotiate: (accept: string) => Negotiated;
}

/** Ignition sends one header per version of it; a person sends another one now and then. */
const negotiationsKept = { entries: 64, characters: 256 };

function handleConfig(request: ServerRequest, options: ConfigOptions): Promise<Handled> | Handled {
  const state = options.source.current();
  const pool = poolPath.exec(request.target)?.[1];
  const about = { route: 'config', ...(pool === undefined ? {} : { pool }) } as const;
  if (options.access === 'token') {
    const accepted = { digests: state.poolTokens, now: options.clock.now() };
    const access = judgePoolToken(bearerToken(request.headers['authorization']), pool ?? '', accepted);
    if (access.status === 'refused') {
      return {
        answer: refuse('token-refused'),
        decision: { ...about, reason: 'token-refused', detail: access.reason },
      };
    }
  }
  if (!isReading(request)) return refused(about, 'method-not-allowed');
  if (pool === undefined) return refused(about, 'not-found');
  const negotiated = options.negotiate(request.headers['accept'] ?? '');
  if (negotiated.status === 'unsupported') {
    return refused(about, 'spec-unsupported', `Spec ${negotiated.asked} was asked for.`);
  }
  const served = state.pools.get(pool);
  if (!isServed(served)) {
    return refused(
      { ...about, spec: negotiated.version },
      'pool-not-ready',
      served?.missing ?? `Nothing is known of ${pool}.`,
    );
  }
  const spec = negotiated.version;
  const config = served.machineConfig.metadata.name;
  const built = options.builtFor(served, spec);
  if (built.status === 'inexpressible')
    return refused({ ...about, config, spec }, 'not-expressible', built.losses.join('; '));
  if (request.method === 'HEAD') {
    const decision = { ...about, reason: 'served', config, spec } as const;
    return { answer: give(built.fill(noToken), configHeaders), decision };
  }
  return issueAndGive(request, { issuer: options.issuer, pool, config, spec, fill: built.fill });
}

interface Giving {
  readonly issuer: TokenIssuer;
  readonly pool: string;
  readonly config: string;
  readonly spec: SpecVersion;
  readonly fill: (token: string) => readonly Uint8Array[];
}

function issueAndGive(request: ServerRequest, { issuer, pool, config, spec, fill }: Giving): Promise<Handled> {
  const { address, from } = request.peer;
  const about = { route: 'config', pool, config, spec } as const;
  const issuing = issuer.issue(from === 'balancer' ? { pool, config, issuedTo: address } : { pool, config });
  return issuing.then(
    (issued): Handled => {
      if ('status' in issued) return refused({ ...about, detail: `${issued.limit} tokens` }, 'too-many-tokens');
      const decision: Decision = { route: 'config', reason: 'served', pool, config, spec, tokenId: issued.id };
      return { answer: give(fill(issued.token), configHeaders), decision };
    },
    (error: unknown) => refused({ ...about, detail: sentence(error) }, 'token-not-recorded'),
  );
}

const redemptionForm = /^[A-Za-z0-9_-]{16,128}$/;

async function handleKeys(request: ServerRequest, options: HandlerOptions): Promise<Handled> {
  const route = 'keys';
  if (options.access === 'open') return refused({ route }, 'keys-not-served');
  const token = bearerToken(request.headers['authorization']);
  const redemption = request.headers['idempotency-key'] ?? '';
  const about = { route, ...(isBootstrapToken(token) ? { tokenId: tokenId(token) } : {}) } as const;
  const deny = (detail: string): Handled => {
    return { answer: refuse('token-refused'), decision: { ...about, reason: 'token-refused', detail } };
  };
  const checked = await recorded(options.issuer.check({ pool: 'master', token, redemption }));
  if ('failure' in checked) return deny(checked.failure);
  if (checked.value.status === 'refused') return deny(token === '' ? 'missing' : checked.value.reason);
  if (request.target !== '/keys/master') return refused(about, 'not-found');
  if (request.method !== 'GET') return refused(about, 'method-not-allowed');
  if (!redemptionForm.test(redemption)) return refused(about, 'redemption-missing');
  // Before the token is used up: keys that cannot be read must not cost it.
  const keys = await readMasterKeys(options.files, options.keysFolder);
  if (keys.status === 'waiting') return refused({ ...about, detail: keys.missing }, 'keys-not-ready');
  const redeemed = await recorded(options.issuer.redeem({ pool: 'master', token, redemption }));
  if ('failure' in redeemed) return refused({ ...about, detail: redeemed.failure }, 'token-not-recorded');
  if (redeemed.value.status === 'refused') return deny(redeemed.value.reason);
  const detail = redeemed.value.isRepeated ? { detail: 'repeated: the answer was lost' } : {};
  return { answer: give([keys.body]), decision: { ...about, reason: 'served', pool: 'master', ...detail } };
}

type Recorded<T> = { readonly value: T } | { readonly failure: string };

/** What could not be recorded is an answer too: the client comes again. */
async function recorded<T>(promise: Promise<T>): Promise<Recorded<T>> {
  try {
    return { value: await promise };
  } catch (error) {
    return { failure: sentence(error) };
  }
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
