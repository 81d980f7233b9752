// Starts an attempt: the node is cordoned first, then labelled. What to do is decided from what the API shows, so the
// command may be killed anywhere and run again: an attempt that has begun is followed, and none is started twice.
import {
  type AttemptSecret,
  attemptSecretName,
  inPlaceNamespace,
  scheduledValue,
  scheduleLabels,
} from '../../contract/in-place.ts';
import { findAttemptSecret, missingSecretKeys } from '../../in-place/attempt-secret.ts';
import type { AttemptView } from '../../in-place/attempt-view.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import { retry } from '../../workflow/retry.ts';
import { findPools } from '../pools/observe-pools.ts';
import { attemptErrors } from './errors.ts';
import { type AttemptCall, findAttempts } from './observe-attempts.ts';
import { inPlaceTarget, poolOf } from './prepare-attempt.ts';

export interface StartedAttempt {
  readonly node: string;
  readonly attemptId: string;
  /** It had begun already, by an earlier command or by hand. */
  readonly isResumed: boolean;
}

export async function startAttempt(call: AttemptCall, node: string): Promise<StartedAttempt> {
  const { host, client, signal } = call;
  const patient = apiPatience({ host, signal });
  const pools = await findPools(call);
  const pool = poolOf(pools, node);
  const { attempts } = await findAttempts(call);
  const secret = await retry(patient, () => findAttemptSecret(client, node));
  const decided = attemptToStart({ node, secret, attempts, now: host.clock.now() });
  if (decided.isResumed) return decided;
  inPlaceTarget(pool);
  const reference = { apiVersion: 'v1', kind: 'Node', name: node };
  // Two calls, in this order: whoever sees the label sees the cordon.
  await retry(patient, () => client.mergePatch(reference, { spec: { unschedulable: true } }, { signal }));
  const [label] = scheduleLabels;
  const labels = { [label]: scheduledValue };
  await retry(patient, () => client.mergePatch(reference, { metadata: { labels } }, { signal }));
  return decided;
}

export interface AttemptStartFacts {
  readonly node: string;
  readonly secret: AttemptSecret | undefined;
  readonly attempts: readonly AttemptView[];
  readonly now: Date;
}

/** Whether to start the attempt of the Secret or to follow it; throws where neither is possible. */
export function attemptToStart({ node, secret, attempts, now }: AttemptStartFacts): StartedAttempt {
  const own = attempts.filter((attempt) => attempt.node === node);
  const running = own.find(({ isEnded }) => !isEnded);
  const name = `${inPlaceNamespace}/${attemptSecretName(node)}`;
  const attemptId = secret?.['attempt-id'] ?? '';
  if (running !== undefined) {
    if (running.attemptId === attemptId) return { node, attemptId, isResumed: true };
    throw attemptErrors.ATTEMPT_RUNNING({ node, attempt: running.attemptId, phase: running.phase });
  }
  if (secret === undefined) throw attemptErrors.SECRET_MISSING({ node, secret: name });
  const keys = missingSecretKeys(secret);
  if (keys.length > 0) throw attemptErrors.SECRET_INCOMPLETE({ secret: name, keys });
  const ended = own.find((attempt) => attempt.attemptId === attemptId);
  if (ended !== undefined) throw attemptErrors.ATTEMPT_USED({ node, attempt: attemptId, phase: ended.phase });
  const notAfter = secret['not-after'] ?? '';
  // A time that cannot be read is a matter of preflight P01, and counts as over here too.
  if (!(Date.parse(notAfter) > now.getTime())) {
    throw attemptErrors.SECRET_EXPIRED({ node, secret: name, at: notAfter });
  }
  return { node, attemptId, isResumed: false };
}
