// Starts a run: all nodes of a pool, one after the other or a few at a time, by the controller. The workstation makes
// the Secrets and the InPlaceRun; the run goes on when the command ends.
import { runKind } from '../../contract/in-place-run.ts';
import { randomUuid } from '../../host/random.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import { retry } from '../../workflow/retry.ts';
import { findPools, poolViewNamed } from '../pools/observe-pools.ts';
import { attemptErrors } from './errors.ts';
import { type AttemptCall, findAttempts, runningRun } from './observe-attempts.ts';
import { type AttemptRequest, prepareNodes } from './prepare-attempt.ts';

export interface RunRequest extends AttemptRequest {
  readonly maxConcurrent: number;
}

export interface StartedRun {
  readonly run: string;
  readonly pool: string;
  readonly nodes: readonly string[];
  readonly target: string;
  readonly isResumed: boolean;
}

/** A run of the pool that is under way is followed: then nothing is changed. */
export async function startRun(call: AttemptCall, poolName: string, request: RunRequest): Promise<StartedRun> {
  const { host, client, signal } = call;
  const pool = poolViewNamed(await findPools(call), poolName);
  const running = runningRun((await findAttempts(call)).runs, poolName);
  if (running !== undefined) {
    const { name: run, spec } = running;
    return { run, pool: poolName, nodes: spec.nodes.map(({ name }) => name), target: pool.to ?? '', isResumed: true };
  }
  const nodes = pool.nodes.map(({ name }) => name);
  if (nodes.length === 0) throw attemptErrors.POOL_UNFIT({ pool: poolName, reason: 'it has no nodes' });
  const prepared = await prepareNodes(call, { pool, nodes }, request);
  const run = `${poolName}.${randomUuid(host.random).slice(0, 8)}`;
  const { maxConcurrent } = request;
  const wanted = prepared.map(({ node, attemptId }) => ({ name: node, attemptId }));
  const object = { ...runKind, metadata: { name: run }, spec: { pool: poolName, nodes: wanted, maxConcurrent } };
  await retry(apiPatience({ host, signal }), () => client.create(object, { signal }));
  return { run, pool: poolName, nodes, target: prepared[0]?.target ?? '', isResumed: false };
}
