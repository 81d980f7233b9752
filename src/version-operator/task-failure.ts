// Why a task of the payload is not done, with the reasons of the original. One failure is one value: the pass collects
// them, and the status of the ClusterVersion says them.
import type { ErrorKind, FirstlightError } from '../errors/firstlight-error.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { referenceOf, referenceText } from '../kubernetes/object.ts';
import type { PayloadTask } from './payload.ts';

export type FailureReason =
  | 'UpdatePayloadResourceNotFound'
  | 'UpdatePayloadResourceConflict'
  | 'UpdatePayloadClusterDown'
  | 'UpdatePayloadClusterError'
  | 'UpdatePayloadResourceInvalid'
  | 'UpdatePayloadResourceForbidden'
  | 'UpdatePayloadClusterUnauthorized'
  | 'UpdatePayloadClusterOverloaded'
  | 'UpdatePayloadResourceTypeMissing'
  | 'UpdatePayloadFailed'
  | 'UpdatePayloadIntegrity'
  | 'ClusterOperatorNotAvailable'
  | 'ClusterOperatorDegraded'
  | 'ClusterOperatorUpdating'
  | 'WorkloadNotAvailable'
  | 'WorkloadNotProgressing';

export interface TaskFailure {
  readonly reason: FailureReason;
  /** Names the cause, without the object. */
  readonly message: string;
  /** `Deployment kube-system/coredns`; of a manifest that is none, its file. */
  readonly object: string;
  readonly source: string;
  /** Of the ClusterOperator that is waited for. */
  readonly operator?: string;
  /** `wait` is on its way and says so in Progressing; `slow` is on its way for too long. */
  readonly effect: 'fail' | 'wait' | 'slow';
  /** No further try of this pass can help. */
  readonly isFinal: boolean;
  /** What comes after it waits. */
  readonly blocks: boolean;
}

const reasons: readonly (readonly [ErrorKind, FailureReason])[] = [
  [kubernetesErrors.NOT_FOUND, 'UpdatePayloadResourceNotFound'],
  [kubernetesErrors.CONFLICT, 'UpdatePayloadResourceConflict'],
  [kubernetesErrors.ALREADY_EXISTS, 'UpdatePayloadResourceConflict'],
  [kubernetesErrors.UNREACHABLE, 'UpdatePayloadClusterDown'],
  [kubernetesErrors.TIMEOUT, 'UpdatePayloadClusterDown'],
  [kubernetesErrors.UNAVAILABLE, 'UpdatePayloadClusterError'],
  [kubernetesErrors.INVALID, 'UpdatePayloadResourceInvalid'],
  [kubernetesErrors.FORBIDDEN, 'UpdatePayloadResourceForbidden'],
  [kubernetesErrors.UNAUTHORIZED, 'UpdatePayloadClusterUnauthorized'],
  [kubernetesErrors.TOO_MANY_REQUESTS, 'UpdatePayloadClusterOverloaded'],
  [kubernetesErrors.NO_SUCH_KIND, 'UpdatePayloadResourceTypeMissing'],
];

export function reasonOfRefusal(error: FirstlightError): FailureReason {
  return reasons.find(([row]) => row.code === error.code)?.[1] ?? 'UpdatePayloadFailed';
}

type FailureWords = Pick<TaskFailure, 'reason' | 'message'> & Partial<TaskFailure>;

export function taskFailure(task: PayloadTask, words: FailureWords): TaskFailure {
  const object = 'object' in task ? referenceText(referenceOf(task.object)) : task.source;
  return { object, source: task.source, effect: 'fail', isFinal: false, blocks: true, ...words };
}

/** What the API refused. An object that it finds wrong stays wrong until somebody changes something. */
export function failureOfCall(task: PayloadTask, error: FirstlightError): TaskFailure {
  const reason = reasonOfRefusal(error);
  return taskFailure(task, { reason, message: error.message, isFinal: reason === 'UpdatePayloadResourceInvalid' });
}
