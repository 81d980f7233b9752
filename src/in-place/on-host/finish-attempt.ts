// The unit `ipb-finish@<attempt>` on a host: from the start of the kubelet to the end of the attempt, and the removal
// of everything that the attempt brought but its state file.
import type { HostAttempt } from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import type { AttemptRun } from './run-attempt.ts';

export async function finishAttempt(_host: Host, attemptId: string, _run: AttemptRun): Promise<HostAttempt> {
  throw new Error(`${attemptId} cannot end yet`);
}
