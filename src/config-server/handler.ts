// One request, one answer, whether files or the API are behind it. Until a token was accepted, every path under
// /config/ and /keys/ gets the same bytes, and costs nobody but this process anything.
import { isBootstrapToken, noToken, tokenId } from '../admission/bootstrap-token.ts';
import { judgePoolToken, poolTokenPrefix } from '../admission/pool-token.ts';
import { targetHeaders } from '../contract/in-place.ts';
import { readMasterKeys, redemptionHeader } from '../control-plane/master-keys.ts';
import type { Clock } from '../host/clock.ts';
import type { Files } from '../host/files.ts';
import type { ServerAnswer, ServerRequest } from '../host/https-server.ts';
import type { SpecVersion } from '../ignition/spec-version.ts';
import type { ProgressRefusal } from '../in-place/reporting/progress-answers.ts';
import { negotiateSpec } from './accept.ts';
import { give, type Refusal, refuse } from './answers.ts';
import { type ConfigSource, isServed, type ServedPool } from './config-source.ts';
import type { RateLimit } from './rate-limit.ts';
import { type BuildConfig, servedConfigs } from './served-config.ts';
import type { TokenIssuer } from './token-issuer.ts';

/** `token`: only for machines that show a token. `open`: configs for every client, for machines that have no token. */
export type AccessMode = 'token' | 'open';

export interface HandlerOptions {
  readonly access: AccessMode;
  readonly source: ConfigSource;
  readonly issuer: TokenIssuer;
  readonly clock: Clock;
  readonly files: Files;
  /**
   * Whether the address of a request is that of the machine: where a load balancer is declared it tells, and whoever
   * comes directly comes from his own. Elsewhere an undeclared one may be in between.
   */
  readonly knowsAddresses: boolean;
  /** Of requests to the API for tokens that are not known here. */
  readonly lookUps: Pick<RateLimit, 'take'>;
  /** Where the keys for masters are. */
  readonly keysFolder: string;
  /** What keeps the server from serving; empty when nothing does. */
  readonly unhealthy: () => readonly string[];
  /** What answers below /v1/; only masters have it. */
  readonly inPlace?: Handler;
}

/** What was decided, for the log and the counters. Holds no secret. */
export interface AnswerDecision {
  readonly route: 'config' | 'keys' | 'healthz' | 'in-place' | 'other';
  readonly reason: Refusal | ProgressRefusal | 'served';
  readonly pool?: string;
  readonly config?: string;
  readonly spec?: SpecVersion;
  /** The public part of the single-use token that was given, or shown. */
  readonly tokenId?: string;
  /** Which machine it was, where that is known. */
  readonly machine?: string;
  /** For the log; the client is not told. */
  readonly detail?: string;
}

export interface Handled {
  readonly answer: ServerAnswer;
  readonly decision: AnswerDecision;
}

export type Handler = (request: ServerRequest) => Promise<Handled>;

export function createHandler(options: HandlerOptions): Handler {
  const build = servedConfigs();
  return async (request) => {
    if (request.target.startsWith('/config/')) return handleConfig(request, options, build);
    if (request.target.startsWith('/keys/')) return handleKeys(request, options);
    if (options.inPlace !== undefined && isInPlace(request)) return options.inPlace(request);
    return handleOther(request, options);
  };
}

export function isInPlace({ target }: Pick<ServerRequest, 'target'>): boolean {
  return target.startsWith('/v1/');
}

function refused(about: Omit<AnswerDecision, 'reason'>, reason: Refusal, told?: string): Handled {
  const { detail = told } = about;
  return { answer: refuse(reason, told), decision: { ...about, reason, ...(detail === undefined ? {} : { detail }) } };
}

/** The credential of `Authorization: Bearer …`; empty where there is none. */
function bearerToken({ headers }: ServerRequest): string {
  return /^Bearer +([!-~]{1,256}) *$/i.exec(headers['authorization'] ?? '')?.[1] ?? '';
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
  return { answer: give('{"status":"ok"}\n'), decision: { route, reason: 'served' } };
}

/** A pool has the name of a Kubernetes object; any other text there names no pool. */
const poolPath = /^\/config\/([a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?)$/;

async function handleConfig(request: ServerRequest, options: HandlerOptions, build: BuildConfig): Promise<Handled> {
  const { poolTokens: digests } = options.source.current();
  const pool = poolPath.exec(request.target)?.[1];
  const about = { route: 'config', ...(pool === undefined ? {} : { pool }) } as const;
  if (options.access === 'token') {
    const token = plainPoolToken(bearerToken(request));
    const verdict = judgePoolToken(token, pool ?? '', { digests, now: options.clock.now() });
    if (verdict !== 'accepted') return refused({ ...about, detail: verdict }, 'token-refused');
  }
  if (!isReading(request)) return refused(about, 'method-not-allowed');
  if (pool === undefined) return refused(about, 'not-found');
  const negotiated = negotiateSpec(request.headers['accept']);
  if (negotiated.status === 'unsupported') {
    return refused(about, 'spec-unsupported', `Spec ${negotiated.asked} was asked for.`);
  }
  const spec = negotiated.version;
  const found = servedFor(request, pool, options.source);
  if ('refusal' in found) return refused({ ...about, spec }, found.refusal, found.told);
  const { served } = found;
  const config = served.machineConfig.metadata.name;
  const chosen = { ...about, config, spec };
  const built = build(served, spec);
  if (built.status === 'inexpressible') return refused(chosen, 'not-expressible', built.losses.join('; '));
  if (request.method === 'HEAD')
    return { answer: give(built.fill(noToken)), decision: { ...chosen, reason: 'served' } };
  const issuedTo = options.knowsAddresses ? { issuedTo: request.peer.address } : {};
  const issuing = options.issuer.issue({ pool, config, ...issuedTo });
  const issued = await recorded(issuing);
  if ('failure' in issued) return refused({ ...chosen, detail: issued.failure }, 'token-not-recorded');
  if ('status' in issued.value) {
    return refused({ ...chosen, detail: `${issued.value.limit} tokens` }, 'too-many-tokens');
  }
  const { id, token } = issued.value;
  return { answer: give(built.fill(token)), decision: { ...chosen, reason: 'served', tokenId: id } };
}

/** The config of the pool, or the one that the machine names. */
function servedFor(
  { headers }: ServerRequest,
  pool: string,
  source: ConfigSource,
): { readonly served: ServedPool } | { readonly refusal: Refusal; readonly told: string } {
  const { [targetHeaders.pool]: namedPool = pool, [targetHeaders.hash]: config } = headers;
  // Elsewhere pools have a namespace before their names.
  if (namedPool.split('/').at(-1) !== pool) {
    return { refusal: 'target-mismatch', told: `The path is that of ${pool}.` };
  }
  const ofPool = source.current().pools.get(pool);
  const served = config === undefined || !isServed(ofPool) ? ofPool : source.named(pool, config);
  if (isServed(served)) return { served };
  if (isServed(ofPool) && served === undefined) {
    return { refusal: 'target-unknown', told: `Pool ${pool} has none of the name that was asked for.` };
  }
  return { refusal: 'pool-not-ready', told: served?.missing ?? `Nothing is known of ${pool}.` };
}

/** Some clients send the token as it is, others its base64. */
function plainPoolToken(credential: string): string {
  if (credential.startsWith(poolTokenPrefix)) return credential;
  const decoded = Buffer.from(credential, 'base64').toString('utf8');
  return decoded.startsWith(poolTokenPrefix) ? decoded : credential;
}

const keysPath = '/keys/master';
const redemptionForm = /^[A-Za-z0-9_-]{16,128}$/;

async function handleKeys(request: ServerRequest, options: HandlerOptions): Promise<Handled> {
  const token = bearerToken(request);
  const about = { route: 'keys', ...(isBootstrapToken(token) ? { tokenId: tokenId(token) } : {}) } as const;
  if (options.access === 'open') return refused(about, 'keys-not-served');
  const redemption = request.headers[redemptionHeader] ?? '';
  const deny = (detail: string): Handled => refused({ ...about, detail }, 'token-refused');
  const isAsked = request.target === keysPath && request.method === 'GET';
  const mayLookUp = (): boolean => isAsked && options.lookUps.take(request.peer.address);
  const address = options.knowsAddresses ? { address: request.peer.address } : {};
  const asked = { pool: 'master', token, redemption, ...address };
  const checked = await recorded(options.issuer.check(asked, mayLookUp));
  if ('failure' in checked) return deny(checked.failure);
  if (checked.value.status === 'refused') return deny(token === '' ? 'missing' : checked.value.reason);
  if (request.target !== keysPath) return refused(about, 'not-found');
  if (request.method !== 'GET') return refused(about, 'method-not-allowed');
  if (!redemptionForm.test(redemption)) return refused(about, 'redemption-missing');
  // Before the token is used up: keys that cannot be read must not cost it.
  const keys = await readMasterKeys(options.files, options.keysFolder);
  if (keys.status === 'waiting') return refused({ ...about, detail: keys.missing }, 'keys-not-ready');
  const redeemed = await recorded(options.issuer.redeem(asked));
  if ('failure' in redeemed) return refused({ ...about, detail: redeemed.failure }, 'token-not-recorded');
  if (redeemed.value.status === 'refused') return deny(redeemed.value.reason);
  const { isRepeated, status: _status, ...machine } = redeemed.value;
  const detail = isRepeated ? { detail: 'repeated: the answer was lost' } : {};
  return { answer: give(keys.body), decision: { ...about, reason: 'served', pool: 'master', ...machine, ...detail } };
}

type Recorded<T> = { readonly value: T } | { readonly failure: string };

/** A token that could not be recorded is an answer too: the machine asks again. */
async function recorded<T>(promise: Promise<T>): Promise<Recorded<T>> {
  try {
    return { value: await promise };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
