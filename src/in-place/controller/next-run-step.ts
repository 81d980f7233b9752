// A run: the nodes of a pool, one after the other, each by an attempt of its own. What comes next is a pure function of
// the run, its attempts and the nodes. Failures in a row stop the line; attempts that have begun go on to their end.
import { attemptName, type InPlaceAttempt } from '../../contract/in-place.ts';
import { type InPlaceRun } from '../../contract/in-place-run.ts';
import { isEnd } from '../phases.ts';
import type { InPlaceNode } from './in-place-node.ts';
import type { AttemptOrder } from './next-attempts.ts';

export type RunStatus = InPlaceRun['status'];
type RunEntry = RunStatus['nodes'][number];
type NodeOfRun = InPlaceRun['spec']['nodes'][number];

/** The Secrets are written before the run, and may be seen after it: each kind has a watch of its own. */
const secretsSeenWithinMs = 30_000;

export interface RunView {
  readonly run: InPlaceRun;
  readonly attempts: readonly InPlaceAttempt[];
  readonly orders: readonly AttemptOrder[];
  readonly nodes: readonly InPlaceNode[];
  readonly now: Date;
}

export interface RunStep {
  /** As it is to be; written before a node is asked for its attempt. */
  readonly status: RunStatus;
  /** The nodes to cordon and to label now: they are in the status as it was read. */
  readonly start: readonly string[];
}

export function nextRunStep(view: RunView): RunStep {
  const { run } = view;
  const entries = run.status.nodes.map((entry) => currentEntry(entry, view));
  if (run.status.state !== 'Running') return { status: { ...run.status, nodes: entries }, start: [] };
  const unstarted = run.status.nodes.filter((entry) => isUnstarted(entry, view)).map(({ node }) => node);
  const active = entries.filter(({ phase }) => !isEnd(phase)).length;
  const failures = failuresInRow(entries);
  const isStopped = failures.length >= run.spec.failuresMax;
  const left = run.spec.nodes.filter(({ name }) => !entries.some((entry) => entry.node === name));
  const next = isStopped ? [] : left.slice(0, Math.max(0, run.spec.maxConcurrent - active));
  const nodes = [...entries, ...next.flatMap((node) => newEntry(node, view) ?? [])];
  return { status: { ...stateOf(view, { nodes, failures, isStopped }), nodes }, start: unstarted };
}

function currentEntry(entry: RunEntry, { attempts }: RunView): RunEntry {
  const found = attempts.find(({ name }) => name === entry.attempt);
  if (found === undefined) return entry;
  const { phase, failure, waitsFor } = found.status;
  return { ...entry, phase, message: failure === undefined ? waitsFor : `${failure.code}: ${failure.message}` };
}

/** Its attempt does not exist yet, and nobody has asked for it on the node. */
function isUnstarted({ node, attempt, phase }: RunEntry, { attempts, nodes }: RunView): boolean {
  if (isEnd(phase) || attempts.some(({ name }) => name === attempt)) return false;
  const found = nodes.find(({ name }) => name === node);
  return found !== undefined && !(found.isScheduled && found.isCordoned);
}

/** A node that cannot begin counts as one that failed. Undefined as long as its Secret may still come into sight. */
function newEntry({ name: node, attemptId }: NodeOfRun, { run, orders, nodes, now }: RunView): RunEntry | undefined {
  const entry = { node, attempt: attemptName(node, attemptId) };
  if (!nodes.some(({ name }) => name === node)) return { ...entry, phase: 'Failed', message: 'no such node' };
  const order = orders.find((each) => each.node === node);
  if (order?.attemptId === attemptId) return { ...entry, phase: 'Scheduled', message: '' };
  const ageMs = now.getTime() - Date.parse(run.createdAt ?? now.toISOString());
  if (ageMs < secretsSeenWithinMs) return undefined;
  const message = order === undefined ? 'it has no Secret' : 'its Secret is not that of this run';
  return { ...entry, phase: 'Failed', message };
}

function isFailure({ phase }: RunEntry): boolean {
  return isEnd(phase) && phase !== 'Succeeded';
}

/** The last of those that have ended, in the order in which they began, without a success after them. */
function failuresInRow(entries: readonly RunEntry[]): readonly RunEntry[] {
  const ended = entries.filter(({ phase }) => isEnd(phase));
  return ended.slice(ended.findLastIndex((entry) => !isFailure(entry)) + 1);
}

interface RunProgress {
  readonly nodes: readonly RunEntry[];
  readonly failures: readonly RunEntry[];
  readonly isStopped: boolean;
}

function stateOf({ run }: RunView, { nodes, failures, isStopped }: RunProgress): Pick<RunStatus, 'state' | 'message'> {
  const isActive = nodes.some(({ phase }) => !isEnd(phase));
  const succeeded = nodes.filter(({ phase }) => phase === 'Succeeded').length;
  const count = `${succeeded} of ${run.spec.nodes.length}`;
  if (isStopped) {
    const names = failures.map(({ node, message }) => `${node} (${message})`).join(', ');
    return { state: 'Stopped', message: `${count} succeeded; ${failures.length} failures in a row: ${names}` };
  }
  if (isActive || nodes.length < run.spec.nodes.length) return { state: 'Running', message: `${count} succeeded` };
  const failed = nodes.filter(isFailure).map(({ node, message }) => `${node} (${message})`);
  if (failed.length === 0) return { state: 'Succeeded', message: `${count} succeeded` };
  return { state: 'Stopped', message: `${count} succeeded; not ${failed.join(', ')}` };
}
