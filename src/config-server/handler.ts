// One request, one answer: the same for files and for the API behind it. The order of questions is a rule: first who
// asks, then what. Until the token has been accepted, every path under /config/ and /keys/ gets the same bytes.
import type { Clock } from '../host/clock.ts';
import type { Files } from '../host/files.ts';
import { bodyBytes } from '../host/https-server.ts';
import type { ServerAnswer, ServerRequest } from '../host/https-server.ts';
import type { SpecVersion } from '../ignition/spec-version.ts';
import { type Negotiated, negotiateSpec } from './accept.ts';
import { bearerToken, judgePoolToken } from './access.ts';
import { give, refuse, type Refusal } from './answers.ts';
import { isBootstrapToken, tokenId, noToken } from './bootstrap-token.ts';
import { type ConfigSource, isServed, type ServedPool, type SourceState } from './config-source.ts';
import { readMasterKeys } from './master-keys.ts';
import { remembered } from './remembered.ts';
import { buildServedConfig } from './served-config.ts';
import type { Issued, IssueRequest, TokenIssuer } from './token-issuer.ts';

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

/** What was decided, for the log and the counters; the same object for all answers that are alike. Holds no secret. */
export interface AnswerDecision {
  readonly route: 'config' | 'keys' | 'healthz' | 'other';
  readonly reason: Refusal | 'served';
  readonly pool?: string;
  readonly config?: string;
  readonly spec?: SpecVersion;
  /** What a person needs to know and the client is not told. */
  readonly detail?: string;
}

export interface Handled {
  readonly answer: ServerAnswer;
  readonly decision: AnswerDecision;
  /** The public part of the single-use token that was given, or shown. */
  readonly tokenId?: string;
}

export type Handler = (request: ServerRequest) => Promise<Handled> | Handled;

export function createHandler(options: HandlerOptions): Handler {
  const offers = new WeakMap<ServedPool, Map<SpecVersion, Offer>>();
  const offerOf = (served: ServedPool, spec: SpecVersion): Offer => {
    const versions = offers.get(served) ?? new Map<SpecVersion, Offer>();
    offers.set(served, versions);
    const offer = versions.get(spec) ?? makeOffer(served, spec);
    versions.set(spec, offer);
    return offer;
  };
  const granted = new WeakMap<ServerRequest, Granted>();
  const configOptions = { ...options, offerOf, granted, negotiate: remembered(negotiateSpec, negotiationsKept) };
  return (request) => {
    const { target } = request;
    if (target.startsWith('/config/')) return handleConfig(request, configOptions);
    if (target.startsWith('/keys/')) return handleKeys(request, options);
    return handleOther(request, options);
  };
}

function refused(decision: Omit<AnswerDecision, 'reason'>, reason: Refusal, told?: string): Handled {
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

/** What was found for a request, good for the same request as long as nothing has changed. */
interface Granted {
  readonly state: SourceState;
  readonly untilMs: number;
  readonly offer: GoodOffer;
}

interface ConfigOptions extends HandlerOptions {
  readonly offerOf: (served: ServedPool, spec: SpecVersion) => Offer;
  readonly granted: WeakMap<ServerRequest, Granted>;
  readonly negotiate: (accept: string) => Negotiated;
}

/** Ignition sends one header per version of it; a person sends another one now and then. */
const negotiationsKept = { entries: 64, characters: 256 };

function handleConfig(request: ServerRequest, options: ConfigOptions): Promise<Handled> | Handled {
  const state = options.source.current();
  const nowMs = options.clock.nowMs();
  const before = options.granted.get(request);
  if (before !== undefined && before.state === state && nowMs < before.untilMs) {
    return issueAndGive(request, before.offer, options.issuer);
  }
  const pool = poolPath.exec(request.target)?.[1];
  const about = { route: 'config', ...(pool === undefined ? {} : { pool }) } as const;
  let untilMs = Number.POSITIVE_INFINITY;
  if (options.access === 'token') {
    const accepted = { digests: state.poolTokens, nowMs };
    const access = judgePoolToken(bearerToken(request.headers['authorization']), pool ?? '', accepted);
    if (access.status === 'refused') {
      return {
        answer: refuse('token-refused'),
        decision: { ...about, reason: 'token-refused', detail: access.reason },
      };
    }
    untilMs = access.untilMs;
  }
  if (!isReading(request)) return refused(about, 'method-not-allowed');
  if (pool === undefined) return refused(about, 'not-found');
  const negotiated = options.negotiate(request.headers['accept'] ?? '');
  if (negotiated.status === 'unsupported') {
    return refused(about, 'spec-unsupported', `Spec ${negotiated.asked} was asked for.`);
  }
  const spec = negotiated.version;
  const served = state.pools.get(pool);
  if (!isServed(served)) {
    return refused({ ...about, spec }, 'pool-not-ready', served?.missing ?? `Nothing is known of ${pool}.`);
  }
  const offer = options.offerOf(served, spec);
  if (offer.status === 'inexpressible') return refused(offer.about, 'not-expressible', offer.losses.join('; '));
  if (request.method === 'HEAD') return offer.head;
  options.granted.set(request, { state, untilMs, offer });
  return issueAndGive(request, offer, options.issuer);
}

function issueAndGive({ peer }: ServerRequest, offer: GoodOffer, issuer: TokenIssuer): Promise<Handled> | Handled {
  const { asked } = offer;
  const issuing = issuer.issue(peer.from === 'balancer' ? { ...asked, issuedTo: peer.address } : asked);
  return issuing instanceof Promise ? issuing.then(offer.give, offer.fail) : offer.give(issuing);
}

/** What a pool's machines of one spec are answered with; everything that is the same for all of them is made once. */
type Offer =
  | GoodOffer
  | {
      readonly status: 'inexpressible';
      readonly about: Omit<AnswerDecision, 'reason'>;
      readonly losses: readonly string[];
    };

interface GoodOffer {
  readonly status: 'good';
  readonly asked: IssueRequest;
  readonly head: Handled;
  readonly give: (issued: Issued) => Handled;
  readonly fail: (error: unknown) => Handled;
}

function makeOffer(served: ServedPool, spec: SpecVersion): Offer {
  const { pool } = served;
  const config = served.machineConfig.metadata.name;
  const about = { route: 'config', pool, config, spec } as const;
  const built = buildServedConfig(served, spec);
  if (built.status === 'inexpressible') return { status: 'inexpressible', about, losses: built.losses };
  const empty = give(built.fill(noToken));
  const headers = { ...empty.headers, 'content-length': String(bodyBytes(empty)) };
  const decision = { ...about, reason: 'served' } as const;
  return {
    status: 'good',
    asked: { pool, config },
    head: { answer: { ...empty, headers }, decision },
    give: (issued) => {
      if ('status' in issued) return refused({ ...about, detail: `${issued.limit} tokens` }, 'too-many-tokens');
      return { answer: give(built.fill(issued.token), headers), decision, tokenId: issued.id };
    },
    fail: (error) => refused({ ...about, detail: sentence(error) }, 'token-not-recorded'),
  };
}

const redemptionForm = /^[A-Za-z0-9_-]{16,128}$/;

async function handleKeys(request: ServerRequest, options: HandlerOptions): Promise<Handled> {
  const token = bearerToken(request.headers['authorization']);
  const handled = await giveKeys(request, token, options);
  return isBootstrapToken(token) ? { ...handled, tokenId: tokenId(token) } : handled;
}

async function giveKeys(request: ServerRequest, token: string, options: HandlerOptions): Promise<Handled> {
  const about = { route: 'keys' } as const;
  if (options.access === 'open') return refused(about, 'keys-not-served');
  const redemption = request.headers['idempotency-key'] ?? '';
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
