// Which nodes of a pool move to its target now. A pure function. What must stay true: never more than `maxUnavailable`
// nodes of the pool are unavailable because of us, masters move one at a time, and a node that failed on the target
// stops the pool. Nodes that failed or wait on the way to another config may always turn back: they are out already.
import { type Missing, missingLine } from '../contract/missing.ts';
import { isDegraded, isDone, isReady, isUnavailable, type RolloutNode } from './rollout-node.ts';

export interface PoolNodes {
  readonly pool: string;
  readonly target: string;
  readonly isPaused: boolean;
  /** As the pool has it: a number, a number in a text, or percents. */
  readonly maxUnavailable: number | string | null | undefined;
  readonly nodes: readonly RolloutNode[];
  /** Why no master may go down now; empty when one may. For other pools it is not asked. */
  readonly mastersMissing: readonly Missing[];
}

export interface NextNodes {
  readonly move: readonly string[];
  /** Why nodes that are not at the target are not moved now: completes "waits for …". */
  readonly waitsFor: readonly string[];
}

export function nextNodes(seen: PoolNodes): NextNodes {
  const { target, nodes, isPaused } = seen;
  const pending = nodes.filter(({ desired, current }) => desired !== target && current !== '');
  if (isPaused || target === '' || pending.length === 0) return { move: [], waitsFor: [] };
  const turning = pending.filter((node) => mayTurn(node));
  const failed = nodes.filter((node) => isDegraded(node) && node.desired === target);
  if (seen.pool === 'master') return nextMaster(seen, { pending, turning, failed });
  const fresh = freshNodes(pending);
  if (failed.length > 0) return { move: names(turning), waitsFor: failed.map((node) => failedText(node)) };
  const out = new Set([...nodes.filter(isUnavailable), ...turning].map(({ name }) => name));
  const capacity = Math.max(0, unavailableLimit(seen.maxUnavailable, nodes.length) - out.size);
  const move = [...turning, ...fresh.slice(0, capacity)];
  const isHeld = fresh.length > capacity && capacity === 0;
  return { move: names(move), waitsFor: isHeld ? [...out].map((name) => `${name} to be available`) : [] };
}

interface MasterChoice {
  readonly pending: readonly RolloutNode[];
  readonly turning: readonly RolloutNode[];
  readonly failed: readonly RolloutNode[];
}

function nextMaster({ nodes, mastersMissing }: PoolNodes, { pending, turning, failed }: MasterChoice): NextNodes {
  const claimed = nodes.filter(({ isClaimed }) => isClaimed);
  if (claimed.length > 0) return { move: [], waitsFor: claimed.map(({ name }) => `the in-place attempt on ${name}`) };
  const changing = nodes.filter((node) => !isDone(node) && !isDegraded(node) && !turning.includes(node));
  if (changing.length > 0) return { move: [], waitsFor: changing.map(({ name }) => `${name} to finish its change`) };
  // A master that is out already turns back whatever the others are: nothing gets worse by it.
  if (turning.length > 0) return { move: names(turning.slice(0, 1)), waitsFor: [] };
  if (failed.length > 0) return { move: [], waitsFor: failed.map((node) => failedText(node)) };
  const unready = nodes.filter((node) => !isReady(node));
  if (unready.length > 0) return { move: [], waitsFor: unready.map(({ name }) => `${name} to be available`) };
  if (mastersMissing.length > 0) return { move: [], waitsFor: [missingLine(mastersMissing)] };
  return { move: names(freshNodes(pending).slice(0, 1)), waitsFor: [] };
}

/** Whether the masters' etcd and API have to be asked: only then could a master move. */
export function needsMastersView({ nodes, target, isPaused }: Omit<PoolNodes, 'mastersMissing'>): boolean {
  const isPending = nodes.some(({ desired, current }) => desired !== target && current !== '');
  return !isPaused && isPending && nodes.every((node) => isReady(node) && (isDone(node) || isDegraded(node)));
}

/** It failed on another config, or waits for its drain on the way to one: nothing of that config is on it. */
function mayTurn(node: RolloutNode): boolean {
  if (node.desired === node.current || node.isClaimed) return false;
  return isDegraded(node) || isDrainUnanswered(node);
}

export function isDrainUnanswered({ desiredDrain, lastAppliedDrain }: RolloutNode): boolean {
  return desiredDrain.startsWith('drain-') && desiredDrain !== lastAppliedDrain;
}

/**
 * Nodes that are well, zone by zone and the oldest first; those without a zone come after the others. One whose files
 * were changed by somebody comes last: its daemon refuses to go on until they are restored.
 */
function freshNodes(pending: readonly RolloutNode[]): readonly RolloutNode[] {
  const rank = (node: RolloutNode): readonly string[] => [
    isDegraded(node) ? '1' : '0',
    node.zone === '' ? '1' : '0',
    node.zone,
    node.createdAt,
    node.name,
  ];
  return pending
    .filter((node) => isReady(node) && !node.isLeaving && node.desired === node.current && !isUnavailable(node))
    .toSorted((one, other) => compareTexts(rank(one), rank(other)));
}

function compareTexts(one: readonly string[], other: readonly string[]): number {
  for (const [index, text] of one.entries()) {
    const compared = other[index] ?? '';
    if (text !== compared) return text < compared ? -1 : 1;
  }
  return 0;
}

/** Percents are rounded down. At least one: a pool that may never lose a node could never change. */
export function unavailableLimit(maxUnavailable: PoolNodes['maxUnavailable'], count: number): number {
  const text = String(maxUnavailable ?? 1);
  const number = Number.parseInt(text, 10);
  return Math.max(1, text.endsWith('%') ? Math.floor((number * count) / 100) : number);
}

function failedText({ name, state }: RolloutNode): string {
  return `${name}, which is ${state ?? 'Degraded'} on it`;
}

function names(nodes: readonly RolloutNode[]): readonly string[] {
  return nodes.map(({ name }) => name);
}
