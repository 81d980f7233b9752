// The state machine of an attempt, as a table: for each phase, who is responsible, what may follow, how long it may
// take, and whether the kubelet is held. Host, controller, picture and docs read this table; phases never go back.
import type { InPlacePhase, InPlaceSystem } from '../contract/in-place.ts';

export type PhaseOwner = 'person' | 'controller' | 'pod' | 'host';

export interface PhaseFacts {
  /** Whose act ends the phase. */
  readonly owner: PhaseOwner;
  readonly why: string;
  /** The phases that may follow, the good one first. */
  readonly next: readonly InPlacePhase[];
  /** Only attempts of this system have it. */
  readonly only?: InPlaceSystem;
  /** After so long the attempt ends as `onLimit` says; undefined: it may take for ever. */
  readonly limitMs?: number;
  readonly onLimit?: { readonly phase: 'Failed' | 'RolledBack' | 'PreflightFailed'; readonly code: string };
  /** No kubelet runs on the machine in this phase, whatever is cut off. */
  readonly holdsKubelet: boolean;
  readonly isEnd?: boolean;
}

const minuteMs = 60_000;

export const phaseTable: Readonly<Record<InPlacePhase, PhaseFacts>> = {
  Scheduled: {
    owner: 'controller',
    why: 'The node is cordoned and labelled. The controller claims it, takes the snapshot, and the pod starts.',
    next: ['Preflight', 'Failed'],
    holdsKubelet: false,
  },
  Preflight: {
    owner: 'pod',
    why: 'Everything that the change will need is tried out. Nothing on the host is changed.',
    next: ['Ready', 'PreflightFailed'],
    limitMs: 10 * minuteMs,
    onLimit: { phase: 'PreflightFailed', code: 'PreflightTimeout' },
    holdsKubelet: false,
  },
  Ready: {
    owner: 'controller',
    why: 'All checks passed. The controller drains the node, then the pod puts the unit on the host and starts it.',
    // A pod that is killed here makes its checks again.
    next: ['KubeletStopped', 'PreflightFailed', 'Failed'],
    limitMs: 60 * minuteMs,
    onLimit: { phase: 'Failed', code: 'DrainTimeout' },
    holdsKubelet: false,
  },
  KubeletStopped: {
    owner: 'controller',
    why: 'Agent and kubelet are stopped and stay so. The controller removes the label before anything is changed.',
    next: ['LabelCleared', 'Failed'],
    limitMs: 10 * minuteMs,
    onLimit: { phase: 'Failed', code: 'LabelClearTimeout' },
    holdsKubelet: true,
  },
  LabelCleared: {
    owner: 'host',
    why: 'The label is gone and the annotations of the Node fit: from here on nothing can schedule a second attempt.',
    next: ['Applying', 'Failed'],
    limitMs: 10 * minuteMs,
    onLimit: { phase: 'Failed', code: 'NotApplied' },
    holdsKubelet: true,
  },
  Applying: {
    owner: 'host',
    why: 'The host changes itself: by the Ignition config, or by the base stage of the payload.',
    next: ['Rebooting', 'BaseDone', 'RolledBack', 'Failed'],
    limitMs: 45 * minuteMs,
    onLimit: { phase: 'RolledBack', code: 'ApplyTimeout' },
    holdsKubelet: true,
  },
  BaseDone: {
    owner: 'host',
    why: 'Packages and settings of the base are in place; they take effect with a reboot.',
    next: ['Rebooting2'],
    only: 'rhel',
    limitMs: 5 * minuteMs,
    onLimit: { phase: 'Failed', code: 'RebootNotHappened' },
    holdsKubelet: true,
  },
  Rebooting2: {
    owner: 'host',
    why: 'The reboot between base and kube components, observed by another boot id.',
    next: ['KubeApplying', 'Failed'],
    only: 'rhel',
    limitMs: 15 * minuteMs,
    onLimit: { phase: 'Failed', code: 'RebootNotHappened' },
    holdsKubelet: true,
  },
  KubeApplying: {
    owner: 'host',
    why: 'Container runtime, kubelet and their configuration are put in place by the second stage of the payload.',
    next: ['Booted', 'RolledBack', 'Failed'],
    only: 'rhel',
    limitMs: 45 * minuteMs,
    onLimit: { phase: 'RolledBack', code: 'ApplyTimeout' },
    holdsKubelet: true,
  },
  Rebooting: {
    owner: 'host',
    why: 'The reboot into the new configuration, observed by another boot id.',
    next: ['Booted', 'Failed'],
    only: 'rhcos',
    limitMs: 15 * minuteMs,
    onLimit: { phase: 'Failed', code: 'RebootNotHappened' },
    holdsKubelet: true,
  },
  Booted: {
    owner: 'host',
    why: 'The machine runs the new configuration, and agent and kubelet may start.',
    next: ['Joining'],
    limitMs: 5 * minuteMs,
    onLimit: { phase: 'Failed', code: 'KubeletNotStarted' },
    holdsKubelet: false,
  },
  Joining: {
    owner: 'controller',
    why: 'The kubelet reports; the controller waits until the node is Ready in the new boot.',
    next: ['Restoring', 'Failed'],
    limitMs: 15 * minuteMs,
    onLimit: { phase: 'Failed', code: 'JoinTimeout' },
    holdsKubelet: false,
  },
  Restoring: {
    owner: 'controller',
    why: 'Labels and taints come back by a three-way merge with the snapshot; the cordon goes last.',
    next: ['Succeeded'],
    holdsKubelet: false,
  },
  Succeeded: {
    owner: 'controller',
    why: 'The node is a member as before.',
    next: [],
    holdsKubelet: false,
    isEnd: true,
  },
  PreflightFailed: {
    owner: 'person',
    why: 'A check failed and the host is untouched. A new attempt-id in the Secret starts again.',
    next: [],
    holdsKubelet: false,
    isEnd: true,
  },
  Failed: {
    owner: 'person',
    why: 'It ended, named by phase and code. The node stays cordoned.',
    next: [],
    holdsKubelet: false,
    isEnd: true,
  },
  RolledBack: {
    owner: 'person',
    why: 'The change failed and was undone: the machine has its former configuration. The node stays cordoned.',
    next: [],
    holdsKubelet: false,
    isEnd: true,
  },
};

export function isEnd(phase: InPlacePhase): boolean {
  return phaseTable[phase].isEnd === true;
}

/** Whether `to` may follow `from`, directly or later, in an attempt of this system. */
export function isLater(from: InPlacePhase, to: InPlacePhase): boolean {
  const seen = new Set<InPlacePhase>();
  const visit = (phase: InPlacePhase): boolean =>
    phaseTable[phase].next.some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return visit(next);
    });
  return visit(from);
}
