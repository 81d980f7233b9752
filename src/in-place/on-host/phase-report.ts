// What the host reports about each of its phases, in one sentence for the person who follows the attempt.
import type { HostAttempt, InPlacePhase } from '../../contract/in-place.ts';
import type { AttemptReportEvent } from '../reporting/reporter.ts';

const sentences: Readonly<Partial<Record<InPlacePhase, string>>> = {
  Ready: 'the unit on the host has begun',
  KubeletStopped: 'agent and kubelet are stopped and stay so',
  LabelCleared: 'the label is gone; the configuration is downloaded',
  Applying: 'the machine changes itself',
  BaseDone: 'packages and settings of the base are in place',
  Rebooting: 'the machine reboots into its new configuration',
  Rebooting2: 'the machine reboots to use its new base',
  KubeApplying: 'container runtime and kubelet are put in place',
  Booted: 'the machine runs its new configuration',
  Joining: 'the kubelet runs',
  Succeeded: 'everything that the attempt brought to the machine is removed',
};

export function phaseReport({ phase, failure }: HostAttempt): AttemptReportEvent {
  if (failure === undefined) return { phase, step: phase, status: 'ok', message: sentences[phase] ?? phase };
  const { phase: step, code, message } = failure;
  return { phase, step, status: 'failed', code: code.slice(0, 100), message };
}
