// What a person is shown of one node in a roll-out: from which configuration to which, in which phase, what it waits
// for. Derived from the Node alone: what daemon and controller write about it in its annotations.
import { z } from 'zod';
import {
  type DrainProgress,
  type NodeConfigPhase,
  nodeConfigAnnotations,
  nodeConfigStates,
  readConfigProgress,
  readDrainProgress,
} from '../contract/machine-config-node.ts';
import { isReadyNode } from '../kubernetes/node-object.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

/**
 * `unreported`: its agent has written nothing yet. `queued`: its turn has not come. `starting`: it was told to change
 * and has not begun. The others are the daemon's own.
 */
export type NodeViewPhase =
  | 'done'
  | 'unreported'
  | 'queued'
  | 'starting'
  | NodeConfigPhase
  | 'degraded'
  | 'unreconcilable';

export interface NodeView {
  readonly name: string;
  /** Null until its agent has reported. */
  readonly from: string | null;
  /** The target of its pool. */
  readonly to: string | null;
  readonly phase: NodeViewPhase;
  /** Completes "waits for …"; null while it works, or has nothing to do. */
  readonly waitsFor: string | null;
  /** Why it is degraded or unreconcilable, or goes back. */
  readonly reason: string | null;
  readonly drain: DrainProgress | null;
  /** Since when it is in this phase, as far as somebody says so. */
  readonly since: string | null;
  readonly isReady: boolean;
  readonly isCordoned: boolean;
}

const stateSchema = z.enum(nodeConfigStates);
const cordonSchema = z.object({ unschedulable: z.boolean().nullish() });

/** What the annotations of a Node say, each undefined where it is absent or unreadable. */
function annotationsOf(node: KubernetesObject) {
  const { annotations = {} } = node.metadata;
  const said = (name: keyof typeof nodeConfigAnnotations): string | undefined =>
    annotations[nodeConfigAnnotations[name]] || undefined;
  return {
    current: said('current'),
    desired: said('desired'),
    state: stateSchema.safeParse(said('state')).data,
    reason: said('reason'),
    isRebooting: said('postConfigAction') === 'Rebooting',
    progress: readConfigProgress(said('progress')),
    drain: readDrainProgress(said('drainProgress')),
  };
}

export interface NodeViewContext {
  /** The rendered configuration that its pool is to have; undefined where it has none yet. */
  readonly target: string | undefined;
  readonly isPaused: boolean;
}

export function nodeView(node: KubernetesObject, { target, isPaused }: NodeViewContext): NodeView {
  const said = annotationsOf(node);
  const { current, desired, state, progress, drain } = said;
  const isReady = isReadyNode(node);
  const phase = phaseOf(said, target);
  const isFailed = state === 'Degraded' || state === 'Unreconcilable';
  const isMoving = phase !== 'done' && phase !== 'unreported' && phase !== 'queued' && !isFailed;
  const waitsFor = isMoving ? (progress?.waitsFor ?? movingWait(phase, { isReady, drain })) : idleWait(phase, isPaused);
  return {
    name: node.metadata.name,
    from: current ?? null,
    to: target ?? desired ?? null,
    phase,
    waitsFor: phase === 'draining' && drain !== undefined ? drainWait(drain) : waitsFor,
    reason: isFailed ? (said.reason ?? `its agent says ${state} and no reason`) : null,
    drain: phase === 'draining' ? (drain ?? null) : null,
    since: (isMoving ? progress?.since : undefined) ?? null,
    isReady,
    isCordoned: cordonSchema.safeParse(node['spec']).data?.unschedulable === true,
  };
}

function phaseOf(
  { current, desired, state, isRebooting, progress }: ReturnType<typeof annotationsOf>,
  target: string | undefined,
): NodeViewPhase {
  // A change that failed is undone: the node says so, and already says why.
  if (state === 'Degraded') return progress?.phase === 'undoing' ? 'undoing' : 'degraded';
  if (state === 'Unreconcilable') return 'unreconcilable';
  if (current === undefined) return 'unreported';
  const isTold = current !== desired || state === 'Working';
  if (isTold && isRebooting) return 'rebooting';
  if (isTold && state === 'Working') return progress?.phase ?? 'starting';
  if (isTold && desired !== undefined) return 'starting';
  return target === undefined || current === target ? 'done' : 'queued';
}

function idleWait(phase: NodeViewPhase, isPaused: boolean): string | null {
  if (phase === 'unreported') return 'its agent to report its configuration';
  if (phase !== 'queued') return null;
  return isPaused ? 'the pool to be resumed' : 'its turn';
}

function movingWait(
  phase: NodeViewPhase,
  { isReady, drain }: { readonly isReady: boolean; readonly drain: DrainProgress | undefined },
): string | null {
  if (phase === 'starting') return 'its agent to begin';
  if (phase === 'draining') return drain === undefined ? 'its pods to be evicted' : drainWait(drain);
  return isReady ? null : 'its kubelet to report again';
}

/** Names what cannot be evicted first: a person can do something about that. */
export function drainWait({ blocked, left, leftCount, waitsFor }: DrainProgress): string {
  if (waitsFor !== undefined) return waitsFor;
  const [first] = blocked;
  if (first !== undefined) {
    const more = blocked.length === 1 ? '' : `, and ${blocked.length - 1} more`;
    const by = first.budget === undefined ? first.reason : `the budget ${first.budget} forbids its eviction`;
    return `pod ${first.pod}: ${by}${more}`;
  }
  if (leftCount === 0) return 'its pods to end';
  const more = leftCount > 3 ? ` and ${leftCount - 3} more` : '';
  return `${leftCount === 1 ? 'pod' : `${leftCount} pods:`} ${left.slice(0, 3).join(', ')}${more}${leftCount === 1 ? ' to end' : ''}`;
}
