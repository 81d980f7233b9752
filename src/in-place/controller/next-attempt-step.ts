// What the controller does next for one attempt: a pure function of the attempt, its Node and its snapshot. Every step
// is one act of the API, so that a controller that ends anywhere, or starts twice, goes on with the same step. What
// must stay true: nothing happens on a node before its snapshot is kept; `cleared` is said after the labels are gone;
// the cordon goes last; phases never go back.
import type { InPlaceAttempt, InPlacePhase } from '../../contract/in-place.ts';
import { nodeConfigAnnotations, readDrainProgress } from '../../contract/machine-config-node.ts';
import { drainWait } from '../../pool-rollout/node-view.ts';
import { isEnd, isLater, phaseTable } from '../phases.ts';
import type { InPlaceNode, NodeTaint } from './in-place-node.ts';
import { lostLabels, lostTaints } from './merge-node.ts';
import type { NodeSnapshot } from './node-snapshot.ts';

export type AttemptFailure = NonNullable<InPlaceAttempt['status']['failure']>;
type FailedPhase = 'Failed' | 'RolledBack' | 'PreflightFailed';

export interface ObservedAttempt {
  readonly attempt: InPlaceAttempt;
  /** Undefined while there is no such Node. */
  readonly node: InPlaceNode | undefined;
  /** Undefined until it is made, and where somebody has deleted it. */
  readonly snapshot: NodeSnapshot | undefined;
  /** The running attempt that has the node instead of this one; empty when there is none. */
  readonly rival: string;
  /** There is no other master to do the work of the controller. */
  readonly isOnlyMaster: boolean;
  /** Its node was emptied, and its machine may go down. */
  readonly isDrained: boolean;
  readonly now: Date;
}

export type AttemptStep =
  /** Write the claim on the Node, unless somebody changed the Node since it was seen. */
  | { readonly kind: 'claim' }
  /** Keep the snapshot, then say that the attempt has begun. */
  | { readonly kind: 'begin' }
  /** Follow what the machine reports. */
  | { readonly kind: 'advance'; readonly phases: readonly InPlacePhase[]; readonly failure?: AttemptFailure }
  | { readonly kind: 'fail'; readonly phase: FailedPhase; readonly failure: AttemptFailure }
  | { readonly kind: 'tell-abort' }
  /** Empty the node; the machine waits. */
  | { readonly kind: 'drain'; readonly waitsFor: string }
  /** The machine need not wait any more. */
  | { readonly kind: 'release' }
  /** Remove the labels and make the annotations fit, then say so. */
  | { readonly kind: 'clear' }
  | { readonly kind: 'begin-restoring' }
  | {
      readonly kind: 'restore';
      readonly labels: Readonly<Record<string, string>>;
      readonly taints: readonly NodeTaint[];
    }
  /** Cordon, taint and claim go together, after everything else. */
  | { readonly kind: 'give-back' }
  | { readonly kind: 'succeed' }
  /** It ended without success: claim and taint go, the cordon stays. */
  | { readonly kind: 'let-go'; readonly dropsLabels: boolean }
  | { readonly kind: 'rest'; readonly waitsFor: string };

const rest = (waitsFor: string): AttemptStep => ({ kind: 'rest', waitsFor });

export function nextAttemptStep(view: ObservedAttempt): AttemptStep {
  const { attempt, node } = view;
  const { spec, status } = attempt;
  if (isEnd(status.phase)) return stepAtEnd(view);
  if (view.rival !== '') return rest(`attempt ${view.rival} on the same node to end`);
  if (status.history.length === 0) return stepToBegin(view);
  const reported = reportedSteps(attempt);
  if (reported !== undefined) return reported;
  const end = endByItself(view) ?? endByLimit(view);
  if (end !== undefined) return end;
  const isClaimed = node === undefined || spec.isAdoption || node.claim === attempt.name;
  if (!isClaimed && status.phase !== 'Restoring') return { kind: 'claim' };
  return stepInPhase(view);
}

function stepAtEnd({ attempt, node }: ObservedAttempt): AttemptStep {
  if (node?.claim !== attempt.name) return rest('');
  return { kind: 'let-go', dropsLabels: attempt.status.failure?.code === 'Aborted' };
}

function stepToBegin(view: ObservedAttempt): AttemptStep {
  const { attempt, node } = view;
  if (attempt.status.isAborted) return failed(view, 'Aborted', untouched);
  if (attempt.spec.isAdoption) return { kind: 'begin' };
  if (node === undefined) return failed(view, 'NodeGone', `there is no node ${attempt.spec.node}`);
  if (view.isOnlyMaster) {
    return failed(view, 'OnlyMaster', `${node.name} is the only master: no other could remove its label meanwhile`);
  }
  if (node.claim === attempt.name) return { kind: 'begin' };
  if (node.configState !== 'Working') return { kind: 'claim' };
  return endByLimit(view) ?? rest('the daemon of machine configuration to finish its change');
}

const untouched = 'a person ended it; the host is untouched';
/** Only the controller says them. */
const controllersPhases: readonly InPlacePhase[] = ['Scheduled', 'Restoring', 'Succeeded'];

/** The phases that the machine has reported since, in their order; what only the controller may say is not believed. */
function reportedSteps({ status }: InPlaceAttempt): AttemptStep | undefined {
  const phases: InPlacePhase[] = [];
  let last = status.phase;
  for (const { phase } of status.report.phases) {
    if (controllersPhases.includes(phase) || !isLater(last, phase)) continue;
    if (isEnd(phase)) {
      const said = status.report.events.findLast((event) => event.phase === phase);
      const failure = {
        phase: last,
        code: said?.code ?? phase,
        message: said?.message ?? 'the machine gave no reason',
      };
      return { kind: 'advance', phases: [...phases, phase], failure };
    }
    phases.push(phase);
    last = phase;
  }
  return phases.length === 0 ? undefined : { kind: 'advance', phases };
}

/** Until here nothing on the host is changed, and the machine was told to wait. */
const phasesBeforeHost: readonly InPlacePhase[] = ['Scheduled', 'Preflight', 'Ready'];

function isUntouched({ status }: InPlaceAttempt): boolean {
  return phasesBeforeHost.includes(status.phase) && status.command === 'pause';
}

function endByItself(view: ObservedAttempt): AttemptStep | undefined {
  const { attempt, node } = view;
  const { status, spec } = attempt;
  const isBeforeHost = phasesBeforeHost.includes(status.phase);
  if (status.isAborted && isUntouched(attempt)) return failed(view, 'Aborted', untouched);
  // The machine ends it by itself, and says so.
  if (status.isAborted && (isBeforeHost || (status.phase === 'KubeletStopped' && status.command !== 'cleared'))) {
    return status.command === 'abort' ? undefined : { kind: 'tell-abort' };
  }
  if (spec.isAdoption || !isUntouched(attempt)) return undefined;
  if (node === undefined) return failed(view, 'NodeGone', `there is no node ${spec.node} any more`);
  if (!node.isScheduled) return failed(view, 'Unscheduled', 'somebody removed the label; the host is untouched');
  if (status.phase === 'Ready' && !node.isCordoned) {
    return failed(view, 'Uncordoned', 'somebody uncordoned the node; the host is untouched');
  }
  return undefined;
}

/** A pod that does not start in this time after it could, does not start at all. */
const startLimitMs = 15 * 60_000;

function endByLimit(view: ObservedAttempt): AttemptStep | undefined {
  const { attempt, now } = view;
  const { status, spec } = attempt;
  const sinceMs = Date.parse(status.history.findLast(({ phase }) => phase === status.phase)?.at ?? '') || 0;
  if (status.phase === 'Scheduled') {
    const endMs = Math.max(sinceMs, Date.parse(spec.notAfter)) + startLimitMs;
    if (now.getTime() < endMs) return undefined;
    return failed(view, 'NotStarted', `no pod on ${spec.node} reported until ${spec.notAfter}, and none afterwards`);
  }
  const { limitMs, onLimit } = phaseTable[status.phase];
  if (limitMs === undefined || onLimit === undefined || now.getTime() - sinceMs < limitMs) return undefined;
  const message = `${status.phase} took longer than ${limitMs / 60_000} min: waited for ${waitText(view)}`;
  return {
    kind: 'fail',
    phase: onLimit.phase,
    failure: { phase: status.phase, code: onLimit.code, message },
  };
}

function failed({ attempt }: ObservedAttempt, code: string, message: string): AttemptStep {
  return { kind: 'fail', phase: 'Failed', failure: { phase: attempt.status.phase, code, message } };
}

function stepInPhase(view: ObservedAttempt): AttemptStep {
  const { status, spec } = view.attempt;
  switch (status.phase) {
    case 'Ready':
      if (status.command !== 'pause') return rest(waitText(view));
      if (view.isDrained || spec.isAdoption) return { kind: 'release' };
      return { kind: 'drain', waitsFor: waitText(view) };
    case 'KubeletStopped':
      return status.command === 'cleared' || status.isAborted ? rest(waitText(view)) : { kind: 'clear' };
    case 'Booted':
    case 'Joining':
      return isUpInNewBoot(view) ? { kind: 'begin-restoring' } : rest(waitText(view));
    case 'Restoring':
      return stepToGiveBack(view);
    case 'Scheduled':
    case 'Preflight':
    case 'LabelCleared':
    case 'Applying':
    case 'BaseDone':
    case 'Rebooting':
    case 'Rebooting2':
    case 'KubeApplying':
      return rest(waitText(view));
    case 'Succeeded':
    case 'PreflightFailed':
    case 'Failed':
    case 'RolledBack':
      return rest('');
  }
}

/** A kubelet reports its boot and its conditions together: Ready in another boot than before is no old condition. */
function isUpInNewBoot({ attempt: { status }, node, snapshot }: ObservedAttempt): boolean {
  const before = ['', snapshot?.bootId, status.cleared?.bootId];
  return node !== undefined && node.isReady && !before.includes(node.bootId);
}

function stepToGiveBack(view: ObservedAttempt): AttemptStep {
  const { attempt, node, snapshot } = view;
  // The claim goes with the cordon: without it, both have gone.
  if (attempt.spec.isAdoption || (node !== undefined && node.claim !== attempt.name)) return { kind: 'succeed' };
  if (node === undefined) return rest(waitText(view));
  const labels = snapshot === undefined ? {} : lostLabels(snapshot, node);
  const taints = snapshot === undefined ? [] : lostTaints(snapshot, node);
  if (Object.keys(labels).length + taints.length === 0) return { kind: 'give-back' };
  return { kind: 'restore', labels, taints };
}

/** Completes "waits for …". */
function waitText({ attempt, node }: ObservedAttempt): string {
  const { spec, status } = attempt;
  const { node: name } = spec;
  const texts: Partial<Record<InPlacePhase, string>> = {
    Scheduled: spec.isAdoption ? `the checks on ${name}` : podText(name, node),
    Preflight: 'its checks',
    Ready: status.command === 'pause' ? drainText(node) : `${name} to stop its kubelet`,
    KubeletStopped: status.isAborted ? `${name} to end it` : labelText(name, status),
    Rebooting: `${name} to boot`,
    Rebooting2: `${name} to boot`,
    Booted: joinText(name, node),
    Joining: joinText(name, node),
    Restoring: joinText(name, node),
  };
  return texts[status.phase] ?? `${name} to report`;
}

/** A kubelet that is silent starts no pod; `ipb adopt` does without one. */
function podText(name: string, node: InPlaceNode | undefined): string {
  if (node?.isSilent !== true) return `the pod of ipb on ${name} to report`;
  return `the kubelet of ${name}, which is silent; without it: firstlight ipb adopt ${name} --address A`;
}

function labelText(name: string, { command }: InPlaceAttempt['status']): string {
  return command === 'cleared' ? `${name} to go on: its label is gone` : `the label of ${name} to be removed`;
}

function joinText(name: string, node: InPlaceNode | undefined): string {
  if (node === undefined) return `${name} to be a node`;
  if (node.isReady) return `the kubelet of ${name} to report its new boot`;
  return `${name} to be Ready${node.notReady === '' ? '' : `: ${node.notReady}`}`;
}

function drainText(node: InPlaceNode | undefined): string {
  const progress = readDrainProgress(node?.annotations[nodeConfigAnnotations.drainProgress]);
  return progress === undefined ? 'its pods to be evicted' : drainWait(progress);
}
