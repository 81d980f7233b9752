// Makes the Secret of a node for one attempt: where the machine gets its configuration, by which token, and until when
// it may begin. A Secret that was prepared before is replaced, with a new id; that of an attempt that runs is kept.
import {
  type AttemptSecret,
  attemptSecretName,
  type InPlaceFacts,
  type InPlaceSystem,
  inPlaceNamespace,
  payloadPath,
} from '../../contract/in-place.ts';
import { randomUuid } from '../../host/random.ts';
import type { AttemptView } from '../../in-place/attempt-view.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import type { PoolView } from '../../pool-rollout/pool-view.ts';
import { retry } from '../../workflow/retry.ts';
import { issuePoolTokens } from '../issue-pool-tokens.ts';
import { findPools } from '../pools/observe-pools.ts';
import { writeAttemptSecret } from './attempt-secret.ts';
import { attemptErrors } from './errors.ts';
import { findInPlaceFacts } from './in-place-facts.ts';
import { type AttemptCall, findAttempts, runningRun } from './observe-attempts.ts';

/** What a person may say about an attempt. What is left out comes from the cluster. */
export interface AttemptRequest {
  readonly os: InPlaceSystem;
  /** For so long the attempt may begin. */
  readonly hours: number;
  /** Another payload service than the cluster's own. */
  readonly payload?: { readonly url: string; readonly token: string; readonly ca: string };
  readonly workerId?: string;
  readonly region?: string;
  readonly registryProbe?: string;
  /** Where the machine reports to besides the cluster itself. */
  readonly report?: { readonly url: string; readonly token: string; readonly ca: string; readonly isRequired: boolean };
  /** JSON with `http`, `https` and `no`. */
  readonly proxy?: string;
}

export interface PreparedAttempt {
  readonly node: string;
  readonly attemptId: string;
  readonly os: InPlaceSystem;
  readonly pool: string;
  /** The rendered configuration that the machine gets. */
  readonly target: string;
  /** `namespace/name`. */
  readonly secret: string;
  readonly notAfter: string;
}

export async function prepareAttempt(
  call: AttemptCall,
  node: string,
  request: AttemptRequest,
): Promise<PreparedAttempt> {
  const pools = await findPools(call);
  const pool = poolOf(pools, node);
  const running = runningRun((await findAttempts(call)).runs, pool.name);
  if (running !== undefined) throw attemptErrors.RUN_RUNNING({ pool: pool.name, run: running.name });
  const [prepared] = await prepareNodes(call, { pool, nodes: [node] }, request);
  if (prepared === undefined) throw attemptErrors.NODE_UNKNOWN({ node, known: nodeNames(pools) });
  return prepared;
}

export interface PreparedNodes {
  readonly pool: PoolView;
  readonly nodes: readonly string[];
}

/** The nodes of one pool, with one change of the list of tokens. */
export async function prepareNodes(
  call: AttemptCall,
  { pool, nodes }: PreparedNodes,
  request: AttemptRequest,
): Promise<readonly PreparedAttempt[]> {
  const target = inPlaceTarget(pool);
  const facts = await findInPlaceFacts(call);
  const { attempts } = await findAttempts(call);
  for (const node of nodes) mustBeIdle(attempts, node);
  const tokens = await tokensFor(call, { pool: pool.name, count: nodes.length, request });
  const notAfter = new Date(call.host.clock.now().getTime() + request.hours * hourMs).toISOString();
  const prepared: PreparedAttempt[] = [];
  for (const [index, node] of nodes.entries()) {
    const attemptId = randomUuid(call.host.random);
    const token = tokens[index] ?? '';
    const secret = attemptSecret({ node, attemptId, pool: pool.name, target, token, notAfter, facts }, request);
    await retry(apiPatience(call), () => writeAttemptSecret(call.client, { node, secret }, call.signal));
    const { os } = request;
    const name = `${inPlaceNamespace}/${attemptSecretName(node)}`;
    prepared.push({ node, attemptId, os, pool: pool.name, target, secret: name, notAfter });
  }
  return prepared;
}

const hourMs = 3_600_000;
/** The configuration is fetched after the drain, which may take an hour, and by an attempt that began in time. */
const tokenSlackMs = 2 * hourMs;

/** Of the config server for the Ignition route; of the payload service for the other one. */
async function tokensFor(
  { host, client, signal }: AttemptCall,
  { pool, count, request }: { readonly pool: string; readonly count: number; readonly request: AttemptRequest },
): Promise<readonly string[]> {
  if (request.os === 'rhcos') {
    const lifeMs = request.hours * hourMs + tokenSlackMs;
    return retry(apiPatience({ host, signal }), () => issuePoolTokens({ host, client, pool, count, lifeMs, signal }));
  }
  const fresh = (): string => `flb_${Buffer.from(host.random.bytes(32)).toString('base64url')}`;
  return Array.from({ length: count }, () => request.payload?.token ?? fresh());
}

export interface SecretFacts {
  readonly node: string;
  readonly attemptId: string;
  readonly pool: string;
  readonly target: string;
  readonly token: string;
  readonly notAfter: string;
  readonly facts: InPlaceFacts;
}

/** The data of the Secret. */
export function attemptSecret(about: SecretFacts, request: AttemptRequest): AttemptSecret {
  const { attemptId, notAfter } = about;
  const { os, registryProbe, report, proxy } = request;
  return {
    os,
    'attempt-id': attemptId,
    'not-after': notAfter,
    ...(os === 'rhcos' ? ignitionKeys(about) : payloadKeys(about, request)),
    ...(registryProbe === undefined ? {} : { 'registry-probe': registryProbe }),
    ...(report === undefined
      ? {}
      : {
          'report-url': report.url,
          'report-token': report.token,
          'report-ca.crt': report.ca,
          ...(report.isRequired ? { report: 'required' } : {}),
        }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}

function ignitionKeys({ pool, target, token, facts }: SecretFacts): AttemptSecret {
  return {
    'ignition-url': `${facts.serviceUrl}/config/${pool}`,
    'ignition-token': token,
    'ignition-ca.crt': facts.serviceCa,
    ...targetKeys(pool, target),
  };
}

/** For config servers: of the target that the pool has now, even if it gets another one before the machine asks. */
function targetKeys(pool: string, target: string): AttemptSecret {
  return { 'node-pool': pool, 'target-hash': target };
}

function payloadKeys(
  { node, pool, target, token, facts }: SecretFacts,
  { payload, workerId, region }: AttemptRequest,
): AttemptSecret {
  return {
    'bootstrap-url': payload?.url ?? `${facts.serviceUrl}${payloadPath}`,
    'bootstrap-token': token,
    'bootstrap-ca.crt': payload?.ca ?? facts.serviceCa,
    'worker-id': workerId ?? node,
    'cluster-id': facts.clusterId,
    region: region ?? regionDefault,
    ...(payload === undefined ? targetKeys(pool, target) : {}),
  };
}

/** Of a cluster that was never told one. */
const regionDefault = 'local';

export function poolOf(pools: readonly PoolView[], node: string): PoolView {
  const found = pools.find(({ nodes }) => nodes.some(({ name }) => name === node));
  if (found === undefined) throw attemptErrors.NODE_UNKNOWN({ node, known: nodeNames(pools) });
  return found;
}

function nodeNames(pools: readonly PoolView[]): readonly string[] {
  return pools.flatMap(({ nodes }) => nodes.map(({ name }) => name)).toSorted();
}

/**
 * The rendered configuration that its nodes are to have; throws where there is none. The pool may be paused: that keeps
 * the pool controller from its nodes, so that they change in place, when a person says so, and not otherwise.
 */
export function inPlaceTarget({ name, to, renderProblem }: PoolView): string {
  if (renderProblem !== null) throw attemptErrors.POOL_UNFIT({ pool: name, reason: renderProblem });
  if (to === null) throw attemptErrors.POOL_UNFIT({ pool: name, reason: 'nothing has been rendered for it yet' });
  return to;
}

function mustBeIdle(attempts: readonly AttemptView[], node: string): void {
  const running = attempts.find((attempt) => attempt.node === node && !attempt.isEnded);
  if (running === undefined) return;
  throw attemptErrors.ATTEMPT_RUNNING({ node, attempt: running.attemptId, phase: running.phase });
}
