// What the unit on the host does next: a pure function of the state file, the disk and the last answer of the progress
// API. Killed at any moment, the unit observes again and goes on. Before `Applying` an attempt can end with nothing
// changed; from there on it is carried to its end or undone.
import type { HostAttempt, InPlacePhase, ProgressCommand } from '../../contract/in-place.ts';
import { isEnd, phaseTable } from '../phases.ts';

/** How far the route is with the work of the phase, as the disk shows it. */
export type WorkState = 'unprepared' | 'prepared' | 'done';

export interface HostView {
  readonly attempt: HostAttempt;
  readonly bootId: string;
  readonly now: Date;
  /** The newest answer of the progress API; undefined until it has answered this process. */
  readonly command: ProgressCommand | undefined;
  /** This process has seen to it that agent and kubelet neither run nor start. */
  readonly hasStopped: boolean;
  /** They were stopped for the attempt and not given back. */
  readonly isHolding: boolean;
  readonly work: WorkState;
  /** Why the work of this phase did not succeed so far. */
  readonly trouble: string | undefined;
}

export type HostStep =
  /** Report the phase and ask until the controller says one of `until`; `waitsFor` completes "waits for …". */
  | { readonly kind: 'ask'; readonly waitsFor: string; readonly until: readonly ProgressCommand[] }
  | { readonly kind: 'enter'; readonly phase: InPlacePhase }
  /** Stop and disable agent and kubelet. */
  | { readonly kind: 'stop' }
  /** Download, verify, and lay ready what the work needs. */
  | { readonly kind: 'prepare' }
  /** Do the work of the phase. */
  | { readonly kind: 'work' }
  /** Record that the work goes on in another boot than it began in. */
  | { readonly kind: 'note-boot' }
  | { readonly kind: 'reboot' }
  /** End without success; what was changed is undone first. */
  | { readonly kind: 'fail'; readonly phase: 'Failed' | 'RolledBack'; readonly code: string; readonly message: string }
  /** Let agent and kubelet run as before the attempt. */
  | { readonly kind: 'give-back' }
  /** Nothing is left for this unit: the other one reports and cleans up. */
  | { readonly kind: 'hand-over' };

export function nextHostStep(view: HostView): HostStep {
  const { phase } = view.attempt;
  if (isEnd(phase)) return view.isHolding ? { kind: 'give-back' } : { kind: 'hand-over' };
  const step = stepOf(view);
  const isOver = step.kind === 'enter' || step.kind === 'hand-over' || step.kind === 'fail';
  return isOver ? step : (limitOf(view) ?? step);
}

function stepOf(view: HostView): HostStep {
  const { attempt, bootId, command, work } = view;
  const isOtherBoot = attempt.bootId !== bootId;
  switch (attempt.phase) {
    case 'Ready':
      if (command === 'abort') return aborted;
      if (command === undefined || command === 'pause') return untilDrained;
      return { kind: 'enter', phase: 'KubeletStopped' };
    case 'KubeletStopped':
      if (!view.hasStopped) return { kind: 'stop' };
      if (command === 'abort') return aborted;
      if (command === 'cleared') return { kind: 'enter', phase: 'LabelCleared' };
      return untilCleared;
    case 'LabelCleared':
      if (command === 'abort') return aborted;
      return work === 'unprepared' ? { kind: 'prepare' } : { kind: 'enter', phase: 'Applying' };
    case 'Applying':
      if (work !== 'done') return isOtherBoot ? { kind: 'note-boot' } : { kind: 'work' };
      if (attempt.os === 'rhel') return { kind: 'enter', phase: 'BaseDone' };
      // A machine that was cut off after the last write has booted into the new configuration already.
      return { kind: 'enter', phase: isOtherBoot ? 'Booted' : 'Rebooting' };
    case 'BaseDone':
      return { kind: 'enter', phase: 'Rebooting2' };
    case 'Rebooting2':
      return isOtherBoot ? { kind: 'enter', phase: 'KubeApplying' } : { kind: 'reboot' };
    case 'KubeApplying':
      return work === 'done' ? { kind: 'enter', phase: 'Booted' } : { kind: 'work' };
    case 'Rebooting':
      return isOtherBoot ? { kind: 'enter', phase: 'Booted' } : { kind: 'reboot' };
    case 'Booted':
    case 'Joining':
    case 'Restoring':
    case 'Succeeded':
    case 'Failed':
    case 'RolledBack':
    // The pod ends with these; no host begins with them.
    case 'Scheduled':
    case 'Preflight':
    case 'PreflightFailed':
      return { kind: 'hand-over' };
  }
}

const untilDrained: HostStep = {
  kind: 'ask',
  waitsFor: 'the controller to drain the node',
  until: ['none', 'cleared', 'abort'],
};
const untilCleared: HostStep = {
  kind: 'ask',
  waitsFor: 'the controller to remove the label of the node',
  until: ['cleared', 'abort'],
};
const aborted: HostStep = {
  kind: 'fail',
  phase: 'Failed',
  code: 'Aborted',
  message: 'a person ended the attempt before anything had changed',
};

function limitOf({ attempt, now, trouble }: HostView): HostStep | undefined {
  const { limitMs, onLimit } = phaseTable[attempt.phase];
  if (limitMs === undefined || onLimit === undefined || onLimit.phase === 'PreflightFailed') return undefined;
  if (now.getTime() - Date.parse(attempt.since) <= limitMs) return undefined;
  const why = trouble === undefined ? '' : `: ${trouble}`;
  const message = `${attempt.phase} took longer than ${limitMs / 60_000} minutes${why}`;
  return { kind: 'fail', phase: onLimit.phase, code: onLimit.code, message };
}
