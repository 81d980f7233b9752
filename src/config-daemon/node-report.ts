// What the Node says about the configuration of its machine: a pure function of the state of the daemon, so that a
// report that could not be written while the API was away is made good at the next look.
import {
  nodeConfigAnnotations as annotation,
  drainRequest,
  type NodeConfigPhase,
  type NodeConfigProgress,
  type NodeConfigState,
  readConfigProgress,
  readDrainProgress,
  reasonLengthMax,
} from '../contract/machine-config-node.ts';
import type { MachineChange } from './daemon-state.ts';
import { type DaemonView, isNodeUp } from './next-daemon-step.ts';

type Annotations = Readonly<Record<string, string>>;

/** A drain that takes longer than this is a failure that a person should see; the daemon goes on waiting. */
const drainLimitMs = 60 * 60_000;

export interface NodeReportInput extends DaemonView {
  /** The annotations that the Node has now. */
  readonly annotations: Annotations;
  /** Completes "waits for …", where the daemon waits for something other than its drain. */
  readonly waitsFor?: string | undefined;
}

/** The annotations to write, null for those to remove; empty where the Node says everything already. */
export function nodeReport(input: NodeReportInput): Readonly<Record<string, string | null>> {
  const { state, reason } = stateOf(input);
  const progress = progressOf(input);
  const wanted: Readonly<Record<string, string | undefined>> = {
    [annotation.current]: input.current,
    [annotation.state]: state,
    [annotation.reason]: reason.slice(0, reasonLengthMax),
    [annotation.desiredDrain]: drainOf(input),
    [annotation.postConfigAction]: input.state.change?.phase === 'rebooting' ? 'Rebooting' : undefined,
    [annotation.progress]: progress === undefined ? undefined : JSON.stringify(progress),
  };
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([name, value]) => (input.annotations[name] ?? '') !== (value ?? ''))
      .map(([name, value]) => [name, value ?? null]),
  );
}

function stateOf(input: NodeReportInput): { readonly state: NodeConfigState; readonly reason: string } {
  const { state, drift = [], desired, current, now } = input;
  const { change, failure } = state;
  if (change?.direction === 'back') return { state: 'Degraded', reason: change.reason };
  if (change?.phase === 'draining' && now.getTime() - Date.parse(change.since) > drainLimitMs) {
    return { state: 'Degraded', reason: `the machine was not drained within 1 hour: ${drainTrouble(input)}` };
  }
  if (change?.phase === 'draining' && failure?.config === change.to) return failure;
  if (change !== undefined) return { state: 'Working', reason: '' };
  if (drift.length > 0) return { state: 'Degraded', reason: driftText(drift) };
  if (failure !== undefined && failure.config === desired && desired !== current) return failure;
  return { state: comesUp(input) ? 'Working' : 'Done', reason: '' };
}

/** The change has ended while the API was away; the node is given back when it is up, not before. */
function comesUp({ annotations, node, bootId }: NodeReportInput): boolean {
  return annotations[annotation.state] === 'Working' && !isNodeUp(node, bootId);
}

const driftShown = 5;

function driftText(drift: readonly string[]): string {
  const more = drift.length - driftShown;
  return `${drift.slice(0, driftShown).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** A person's own cordon is left alone: only a Node that this daemon had drained is given back. */
function drainOf(input: NodeReportInput): string | undefined {
  const { state, current, annotations } = input;
  const { change } = state;
  const asked = annotations[annotation.desiredDrain];
  if (change?.needsDrain === true) return drainRequest('drain', change.to);
  if (change === undefined && comesUp(input)) return asked;
  return asked?.startsWith('drain-') === true ? drainRequest('uncordon', current) : asked;
}

function progressOf(input: NodeReportInput): NodeConfigProgress | undefined {
  const { change } = input.state;
  if (change === undefined) return waitForNode(input);
  const waitsFor = isDraining(change) ? 'the controller to drain the node' : input.waitsFor;
  return { phase: phaseOf(change), ...(waitsFor === undefined ? {} : { waitsFor }), since: change.since };
}

function waitForNode(input: NodeReportInput): NodeConfigProgress | undefined {
  if (!comesUp(input)) return undefined;
  const before = readConfigProgress(input.annotations[annotation.progress]);
  const since = before?.phase === 'verifying' ? before.since : input.now.toISOString();
  return { phase: 'verifying', waitsFor: 'the node to be Ready', since };
}

function phaseOf(change: MachineChange): NodeConfigPhase {
  if (change.direction === 'back') return 'undoing';
  return change.phase === 'draining' && !isDraining(change) ? 'applying' : change.phase;
}

/** A change whose pods may stay begins in the same phase and leaves it at once. */
function isDraining({ phase, needsDrain }: MachineChange): boolean {
  return phase === 'draining' && needsDrain;
}

function drainTrouble({ annotations }: NodeReportInput): string {
  const progress = readDrainProgress(annotations[annotation.drainProgress]);
  const [blocked] = progress?.blocked ?? [];
  if (blocked !== undefined) return `pod ${blocked.pod}: ${blocked.reason}`;
  const [pod] = progress?.left ?? [];
  return pod === undefined ? 'the controller did not answer' : `pod ${pod} is still there`;
}
