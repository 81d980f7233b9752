// What the pod does next, from what it sees. Pure: a pod that is killed and started again decides by the same facts.
import type { HostAttempt, ReporterGrant } from '../../contract/in-place.ts';
import { isEnd, isLater } from '../phases.ts';
import type { GrantAnswer } from './ask-grant.ts';

export interface PodView {
  readonly answer: GrantAnswer;
  /** The state file of the host. */
  readonly hostAttempt: HostAttempt | undefined;
  /** Of the unit that works on the attempt of the grant: `systemctl is-active`. */
  readonly unitState: string;
  /** The attempt that this pod has brought as far as it can. */
  readonly endedAttempt: string | undefined;
}

export type PodStep =
  /** The host works, or has worked, on the attempt; or the attempt has ended. Another one may follow. */
  | { readonly kind: 'idle'; readonly because: string }
  | { readonly kind: 'wait'; readonly waitsFor: string }
  /** Checks first; whoever was killed after them makes them again. */
  | { readonly kind: 'attempt'; readonly grant: ReporterGrant };

export function nextPodStep({ answer, hostAttempt, unitState, endedAttempt }: PodView): PodStep {
  if (answer.status === 'refused') return { kind: 'idle', because: 'the attempt has begun on the host or has ended' };
  if (answer.status === 'waiting') return { kind: 'wait', waitsFor: answer.waitsFor };
  const { grant } = answer;
  const { attemptId } = grant;
  if (endedAttempt === attemptId) return { kind: 'idle', because: `attempt ${attemptId} has ended here` };
  if (unitState !== 'inactive' && unitState !== 'failed') {
    return { kind: 'idle', because: `the unit of attempt ${attemptId} is ${unitState}` };
  }
  const isBegun =
    hostAttempt?.attemptId === attemptId && (isEnd(hostAttempt.phase) || isLater('Ready', hostAttempt.phase));
  if (isBegun) return { kind: 'idle', because: `attempt ${attemptId} is in phase ${hostAttempt.phase} on the host` };
  return { kind: 'attempt', grant };
}
