// What the pod does next, from what it sees. Pure: a pod that is killed and started again decides by the same facts.
import type { HostAttempt, ReporterGrant } from '../../contract/in-place.ts';
import { isEnd, isLater } from '../phases.ts';
import type { GrantAnswer } from './ask-grant.ts';

export interface PodView {
  /** The state file of the host. */
  readonly hostAttempt: HostAttempt | undefined;
  /** The attempt whose unit this pod has started, or which has failed its checks. */
  readonly endedAttempt: string | undefined;
  /** Of the unit of the one or the other attempt: `systemctl is-active`. */
  readonly unitState: string;
  /** Undefined: not asked yet. */
  readonly answer: GrantAnswer | undefined;
}

export type PodStep =
  /** The host works on an attempt, or it has ended. Another one may follow. */
  | { readonly kind: 'idle'; readonly because: string }
  | { readonly kind: 'wait'; readonly waitsFor: string }
  | { readonly kind: 'ask' }
  /** Checks first; whoever was killed after them makes them again. */
  | { readonly kind: 'attempt'; readonly grant: ReporterGrant };

export function nextPodStep({ hostAttempt, endedAttempt, unitState, answer }: PodView): PodStep {
  // A grant brings a new token, and the unit reports with the one before it: while it works, nobody asks.
  if (unitState !== 'inactive' && unitState !== 'failed') {
    return { kind: 'idle', because: `the unit of ${endedAttempt ?? hostAttempt?.attemptId ?? ''} is ${unitState}` };
  }
  if (hostAttempt !== undefined && isBegun(hostAttempt) && !isEnd(hostAttempt.phase)) {
    return { kind: 'idle', because: `attempt ${hostAttempt.attemptId} is in phase ${hostAttempt.phase} on the host` };
  }
  if (answer === undefined) return { kind: 'ask' };
  if (answer.status === 'refused') return { kind: 'idle', because: 'the attempt has begun on the host or has ended' };
  if (answer.status === 'waiting') return { kind: 'wait', waitsFor: answer.waitsFor };
  const { grant } = answer;
  const { attemptId } = grant;
  if (endedAttempt === attemptId) return { kind: 'idle', because: `attempt ${attemptId} has ended here` };
  if (hostAttempt?.attemptId === attemptId && isBegun(hostAttempt)) {
    return { kind: 'idle', because: `attempt ${attemptId} is in phase ${hostAttempt.phase} on the host` };
  }
  return { kind: 'attempt', grant };
}

function isBegun({ phase }: HostAttempt): boolean {
  return isEnd(phase) || isLater('Ready', phase);
}
