// The unit `ipb-run@<attempt>` on a host: observe, decide (next-host-step.ts), carry out, until nothing is left for it.
import type { HostAttempt } from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import { inPlaceErrors } from '../errors.ts';

export interface AttemptRun {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Resolves when the attempt has ended or the machine has booted into its new configuration. */
export async function runAttempt(_host: Host, attemptId: string, _run: AttemptRun): Promise<HostAttempt> {
  throw inPlaceErrors.BUSY({ attempt: attemptId, reason: 'nothing runs it yet' });
}
