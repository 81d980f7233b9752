// Waits until attempts have ended, and says meanwhile how far each is. It reads only what the API shows, so it may be
// stopped and begun again at any time.
import type { InPlaceRun } from '../../contract/in-place-run.ts';
import { type Missing, waitingFor } from '../../contract/missing.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { type AttemptView, byStart, endReason, newestOfEachNode } from '../../in-place/attempt-view.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { dirOption } from '../cluster-dir.ts';
import { apiAway } from '../cluster-nodes.ts';
import { clusterErrors } from '../errors.ts';
import { stallWatch } from '../explain-stall.ts';
import { type ProgressLook, type StallWatch, type WaitLimits, waitForProgress } from '../wait-for-progress.ts';
import { attemptErrors } from './errors.ts';
import { type InPlaceView, observeAttempts } from './observe-attempts.ts';

/** One node of those that are watched. */
export interface WatchedNode {
  readonly node: string;
  /** Null until the controller has made it. */
  readonly attempt: AttemptView | null;
  /** Completes "waits for …", while there is no attempt. */
  readonly waitsFor: string | null;
}

export interface WatchedAttempts {
  readonly run: InPlaceRun | null;
  /** In the order in which they are to change. */
  readonly nodes: readonly WatchedNode[];
}

/** Which attempts: of one run, or per node that of an id; without an id, the newest one. */
export type WatchTarget = { readonly run: string } | { readonly nodes: ReadonlyMap<string, string | undefined> };

export interface WatchAttempts {
  readonly host: Host;
  readonly dir: string;
  readonly client: KubernetesClient;
  readonly target: WatchTarget;
  readonly patience: WaitLimits;
  /** The command that watches, as a person types it. */
  readonly command: string;
  readonly signal: AbortSignal;
  readonly onSeen: (watched: WatchedAttempts) => void;
  readonly onLikely: StallWatch['onLikely'];
}

/** The attempts when all of them have ended well. Throws FAILED or RUN_STOPPED where one did not. */
export async function watchAttempts(watch: WatchAttempts): Promise<WatchedAttempts> {
  const { host, dir, client, target, patience, command, signal } = watch;
  let watched: WatchedAttempts = { run: null, nodes: [] };
  const look = async (): Promise<ProgressLook> => {
    try {
      watched = watchedOf(await observeAttempts(client, signal), target);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
      // A master that is changed may be the one that was asked.
      return apiAway(error);
    }
    watch.onSeen(watched);
    const missing = missingOf(watched);
    return { isDone: missing.length === 0, keys: watched.nodes.map(movementOf), missing };
  };
  try {
    await waitForProgress({
      clock: host.clock,
      command,
      stage: 'the attempt',
      patience,
      everyMs: 500,
      signal,
      look,
      onMissing: () => {},
      stall: stallWatch({ host, dir, signal }, watch.onLikely),
    });
  } catch (error) {
    if (!isError(error, clusterErrors.STALLED) && !isError(error, clusterErrors.TIMEOUT)) throw error;
    const nodes = watched.nodes.filter((node) => !isOver(node)).map(({ node }) => node);
    throw attemptErrors.STUCK({ ...error.details, nodes }, { cause: error });
  }
  mustHaveSucceeded(watched, dirOption(host, dir));
  return watched;
}

/** A pure function, for tests and for verbs that look once. */
export function watchedOf({ attempts, runs, waiting }: InPlaceView, target: WatchTarget): WatchedAttempts {
  const waitOf = (node: string): string =>
    waiting.find((one) => one.node === node)?.waitsFor ?? 'the controller to begin';
  const watchedNode = (node: string, attempt: AttemptView | undefined, waitsFor: string): WatchedNode =>
    attempt === undefined ? { node, attempt: null, waitsFor } : { node, attempt, waitsFor: null };
  if ('nodes' in target) {
    const nodes = [...target.nodes].map(([node, id]) => {
      const own = attempts.filter((one) => one.node === node && (id === undefined || one.attemptId === id));
      return watchedNode(node, byStart(own).at(-1), waitOf(node));
    });
    return { run: null, nodes };
  }
  const run = runs.find(({ name }) => name === target.run);
  if (run === undefined) throw attemptErrors.NO_ATTEMPT({ what: `of a run ${target.run}` });
  const own = newestOfEachNode(attempts.filter((attempt) => attempt.run === run.name));
  return {
    run,
    nodes: run.spec.nodes.map(({ name }) =>
      watchedNode(
        name,
        own.find((attempt) => attempt.node === name),
        'its turn',
      ),
    ),
  };
}

function isOver({ attempt }: WatchedNode): boolean {
  return attempt?.isEnded === true;
}

function missingOf({ run, nodes }: WatchedAttempts): readonly Missing[] {
  if (run !== null && run.status.state !== 'Running') return [];
  const left = nodes.filter((node) => !isOver(node)).map(missingAttempt);
  if (run === null || left.length > 0) return left;
  return [waitingFor(`run ${run.name}`, 'to be ended by the controller')];
}

function missingAttempt({ node, attempt, waitsFor }: WatchedNode): Missing {
  if (attempt === null) return waitingFor(node, `waits for ${waitsFor}`);
  const detail = attempt.waitsFor ?? attempt.said;
  return waitingFor(node, `is in phase ${attempt.phase}`, detail === null ? {} : { detail });
}

/** Every phase and every report is movement, the first time it is seen. */
function movementOf({ node, attempt, waitsFor }: WatchedNode): string {
  return attempt === null
    ? `${node} ${waitsFor}`
    : `${node} ${attempt.phase} ${attempt.movedAt} ${attempt.waitsFor ?? ''}`;
}

function mustHaveSucceeded({ run, nodes }: WatchedAttempts, dirOption: string): void {
  const ended = nodes.flatMap(({ attempt }) =>
    attempt === null || !attempt.isEnded || attempt.phase === 'Succeeded'
      ? []
      : [{ node: attempt.node, attempt: attempt.attemptId, phase: attempt.phase, reason: endReason(attempt) }],
  );
  if (run !== null && run.status.state !== 'Succeeded') {
    const reason = run.status.message || `it is ${run.status.state}`;
    throw attemptErrors.RUN_STOPPED({ pool: run.spec.pool, reason });
  }
  if (ended.length > 0) throw attemptErrors.FAILED({ ended, dirOption });
}
