// What the daemon of a machine does next. A pure function of what is on the disk and, as far as it is known, what the
// Node says: killed at any moment, the daemon observes again and goes on with the same step. A change that has begun
// needs no API; one that only waits for its drain is given up when another config is wanted.
import { type DriftPolicy, drainRequest } from '../contract/machine-config-node.ts';
import type { DaemonState, MachineChange } from './daemon-state.ts';

/** What the API last said about the Node of this machine. */
export interface NodeSight {
  readonly isReady: boolean;
  /** The boot that its kubelet has reported. */
  readonly bootId: string | undefined;
}

/** Ready, and in this boot: the condition of a Node that was rebooted is old for a moment. */
export function isNodeUp(node: NodeSight | undefined, bootId: string): boolean {
  return node !== undefined && node.isReady && node.bootId === bootId;
}

export interface DaemonView {
  /** The rendered config that the machine has, by currentconfig. */
  readonly current: string;
  /** As the Node said last; undefined if it has not been seen since the daemon started. */
  readonly desired: string | undefined;
  readonly lastAppliedDrain: string | undefined;
  /** Undefined if it has not been seen since the daemon started. */
  readonly node: NodeSight | undefined;
  readonly driftPolicy: DriftPolicy;
  readonly state: DaemonState;
  /** One sentence for each difference between the machine and its config; undefined while nobody has looked. */
  readonly drift: readonly string[] | undefined;
  /** The force file exists. */
  readonly isForced: boolean;
  readonly bootId: string;
  readonly pid: number;
  readonly now: Date;
}

/** What perform-step.ts does, on the machine alone. */
export type MachineStep =
  /** Write the files of the current config again. */
  | { readonly kind: 'rewrite' }
  /** A failure that is about a config that nobody wants any more. */
  | { readonly kind: 'forget-failure' }
  | { readonly kind: 'abandon' | 'apply' | 'undo' | 'act' | 'reboot' | 'verify'; readonly change: MachineChange }
  /** All actions have been made, or the machine has booted again: record that it is to be verified. */
  | { readonly kind: 'begin-verifying'; readonly change: MachineChange };

export type DaemonStep =
  | MachineStep
  /** Nothing to do; the report says whether that is good. */
  | { readonly kind: 'rest' }
  /** Compare the machine with its config. */
  | { readonly kind: 'find-drift' }
  /** Fetch the config, judge it, and record the change if the machine can make it. */
  | { readonly kind: 'prepare'; readonly to: string; readonly isForced: boolean }
  | { readonly kind: 'retry-later'; readonly at: Date }
  | { readonly kind: 'await-drain' | 'await-own-restart'; readonly change: MachineChange };

export function nextDaemonStep(view: DaemonView): DaemonStep {
  const { change } = view.state;
  return change === undefined ? stepWithoutChange(view) : stepOfChange(change, view);
}

function stepOfChange(change: MachineChange, view: DaemonView): DaemonStep {
  switch (change.phase) {
    case 'draining':
      if (view.desired !== undefined && view.desired !== change.to) return { kind: 'abandon', change };
      return isDrained(change, view) ? stepWhenDrained(change, view) : { kind: 'await-drain', change };
    case 'applying':
      return { kind: change.direction === 'forward' ? 'apply' : 'undo', change };
    case 'acting':
      if (change.restartingPid === view.pid && change.bootId === view.bootId)
        return { kind: 'await-own-restart', change };
      return { kind: hasActionsLeft(change) ? 'act' : 'begin-verifying', change };
    case 'rebooting':
      return { kind: change.bootId === view.bootId ? 'reboot' : 'begin-verifying', change };
    case 'verifying':
      return { kind: 'verify', change };
  }
}

/** Where the new files could not be made ready, the machine stays drained until they can. */
function stepWhenDrained(change: MachineChange, { state: { failure }, now }: DaemonView): DaemonStep {
  const at = new Date(failure?.retryAt ?? 0);
  return failure?.config === change.to && at > now ? { kind: 'retry-later', at } : { kind: 'apply', change };
}

function isDrained(change: MachineChange, { lastAppliedDrain }: DaemonView): boolean {
  return !change.needsDrain || lastAppliedDrain === drainRequest('drain', change.to);
}

function hasActionsLeft(change: MachineChange): boolean {
  return change.actionsBegun < change[change.direction].actions.length;
}

function stepWithoutChange(view: DaemonView): DaemonStep {
  const { current, drift, isForced, driftPolicy } = view;
  const desired = view.desired ?? current;
  if (drift === undefined) return { kind: 'find-drift' };
  const isDrifted = drift.length > 0;
  if (isDrifted && (driftPolicy === 'Revert' || (isForced && desired === current))) return { kind: 'rewrite' };
  if (desired === current) return { kind: view.state.failure === undefined ? 'rest' : 'forget-failure' };
  if (isDrifted && !isForced) return { kind: 'rest' };
  return stepTowards(desired, view);
}

function stepTowards(to: string, { state: { failure }, isForced, now }: DaemonView): DaemonStep {
  if (failure === undefined || failure.config !== to || isForced) return { kind: 'prepare', to, isForced };
  if (failure.retryAt === undefined) return { kind: 'rest' };
  const at = new Date(failure.retryAt);
  return at > now ? { kind: 'retry-later', at } : { kind: 'prepare', to, isForced };
}

/** The phase after the files have changed, in either direction. */
export function phaseAfterFiles(change: MachineChange): MachineChange['phase'] {
  const { needsReboot, actions } = change[change.direction];
  if (needsReboot) return 'rebooting';
  return actions.length > 0 ? 'acting' : 'verifying';
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** When a change that failed before anything changed is tried again. */
export function retryPauseMs(attempts: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempts - 1, 10));
}
