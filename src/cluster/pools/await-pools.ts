// Waits until pools have the configuration that they are to have. A node that stays degraded ends the wait: its pool
// stops there, and a person has to decide.
import { type Missing, missingText, waitingFor } from '../../contract/missing.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { NodeView } from '../../pool-rollout/node-view.ts';
import type { PoolView } from '../../pool-rollout/pool-view.ts';
import { dirOption } from '../cluster-dir.ts';
import { apiAway } from '../cluster-nodes.ts';
import { clusterErrors } from '../errors.ts';
import { stallWatch } from '../explain-stall.ts';
import { type ProgressLook, type StallWatch, type WaitLimits, waitForProgress } from '../wait-for-progress.ts';
import { observePools } from './observe-pools.ts';

/** The controller needs a moment until a pool has its new target: until then its nodes seem to be updated. */
export interface AwaitedPool {
  readonly before: string | null;
  readonly expected: string;
}

export interface AwaitPools {
  readonly host: Host;
  readonly dir: string;
  readonly client: KubernetesClient;
  readonly pools: ReadonlyMap<string, AwaitedPool>;
  readonly patience: WaitLimits;
  /** The command that waits, as a person types it. */
  readonly command: string;
  readonly signal: AbortSignal;
  /** Called at every look, with those that still have the target they had before. */
  readonly onSeen: (pools: readonly PoolView[], waiting: ReadonlySet<string>) => void;
  readonly onLikely: StallWatch['onLikely'];
}

/** A failure before anything has changed is tried again, and may pass: it ends the wait only when it stays. */
const degradedMs = 10_000;

export async function awaitPools(wait: AwaitPools): Promise<readonly PoolView[]> {
  const { host, dir, client, pools, signal, patience, command } = wait;
  let seen: readonly PoolView[] = [];
  let failedSinceMs: number | undefined;
  const look = async (): Promise<ProgressLook> => {
    try {
      const all = await observePools(client, signal);
      seen = all.filter(({ name }) => pools.has(name));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      // A master that reboots may be the one that was asked.
      return apiAway(error);
    }
    const waiting = seen.filter((pool) => !hasTarget(pool, pools.get(pool.name)));
    wait.onSeen(seen, new Set(waiting.map(({ name }) => name)));
    const failed = seen.flatMap(failuresOf);
    const nowMs = host.clock.monotonicMs();
    failedSinceMs = failed.length === 0 ? undefined : (failedSinceMs ?? nowMs);
    if (failedSinceMs !== undefined && nowMs - failedSinceMs >= degradedMs) {
      throw degraded(seen, failed, dirOption(host, dir));
    }
    const missing = seen.flatMap((pool) => poolMissing(pool, pools.get(pool.name)));
    return { isDone: missing.length === 0, keys: seen.flatMap(movementOf), missing };
  };
  try {
    await waitForProgress({
      clock: host.clock,
      command,
      stage: 'the roll-out',
      patience,
      everyMs: 500,
      signal,
      look,
      onMissing: () => {},
      stall: stallWatch({ host, dir, signal }, wait.onLikely),
    });
  } catch (error) {
    if (!isError(error, clusterErrors.STALLED) && !isError(error, clusterErrors.TIMEOUT)) throw error;
    throw clusterErrors.ROLL_OUT_STUCK({ ...error.details, pools: seen.map(({ name }) => name) }, { cause: error });
  }
  return seen;
}

/** A paused pool has done what it can when it has its target. */
function poolMissing(pool: PoolView, awaited: AwaitedPool | undefined): readonly Missing[] {
  const { name, renderProblem, nodes, isPaused } = pool;
  if (renderProblem !== null) return [waitingFor(`pool ${name}`, 'to be rendered', { detail: renderProblem })];
  if (!hasTarget(pool, awaited)) return [waitingFor(`pool ${name}`, 'to be rendered')];
  const moving = nodes.filter(({ phase }) => phase !== 'done' && !(isPaused && phase === 'queued'));
  return moving.map((node) => {
    const detail = node.reason ?? node.waitsFor;
    return waitingFor(node.name, node.phase, detail === null ? {} : { detail });
  });
}

function hasTarget({ to }: PoolView, awaited: AwaitedPool | undefined): boolean {
  return to !== null && (to === awaited?.expected || to !== awaited?.before);
}

/** Every state of a node is movement the first time it is seen; so is a drain that has fewer pods left. */
function movementOf({ name, to, nodes }: PoolView): readonly string[] {
  return [
    `${name} ${to}`,
    ...nodes.map(({ name: node, phase, from, drain }) => `${node} ${phase} ${from} ${to} ${drain?.leftCount ?? ''}`),
  ];
}

function failuresOf({ name, renderProblem, nodes }: PoolView): readonly Missing[] {
  const isOver = ({ phase, reason }: NodeView): boolean => reason !== null && phase !== 'undoing';
  const failed = nodes.filter((node): node is NodeView & { reason: string } => isOver(node));
  return [
    ...(renderProblem === null ? [] : [waitingFor(`pool ${name}`, 'cannot be rendered', { detail: renderProblem })]),
    ...failed.map((node) => waitingFor(node.name, `is ${node.phase}`, { detail: node.reason })),
  ];
}

function degraded(pools: readonly PoolView[], failed: readonly Missing[], dirOption: string): Error {
  const stopped = pools.filter(({ state }) => state === 'degraded').map(({ name }) => name);
  return clusterErrors.ROLL_OUT_DEGRADED({ pools: stopped, reasons: failed.map(missingText), dirOption });
}
