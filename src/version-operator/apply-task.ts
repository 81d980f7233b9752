// Does one task of the payload: brings one object to what the release says and looks whether it works. What was applied
// is remembered as a digest of the server's answer, so that a later pass only reads. Nothing of a user is ever deleted.
import { clusterOperatorKind, clusterVersionReference, versionOperator } from '../contract/cluster-version.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { establishedOrWhy, isCrd } from '../kubernetes/apply.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { type KubernetesObject, referenceOf, referenceText } from '../kubernetes/object.ts';
import type { Digest } from '../workflow/digest.ts';
import { projectionDigest } from './live-projection.ts';
import { treatmentOf } from './manifest-filter.ts';
import { type HealthProblem, operatorProblem, workloadProblem } from './object-health.ts';
import type { PayloadTask } from './payload.ts';
import { failureOfCall, type TaskFailure, taskFailure } from './task-failure.ts';
import type { OperatorState } from './task-graph.ts';

export interface ApplyContext {
  readonly client: KubernetesClient;
  readonly host: Pick<Host, 'clock'>;
  readonly state: OperatorState;
  /** Of the ClusterVersion, which owns everything that the release brings. */
  readonly ownerUid: string;
  /** Source of a task → the projection of what the server made of it. Without it the task is applied anew. */
  readonly memory: Map<string, Digest>;
  readonly signal: AbortSignal;
  /** Whether the Lease is still held; checked before every write. */
  readonly mayAct: () => boolean;
  readonly log: (line: string) => void;
}

/** Undefined when it is done. Throws only the reason of the signal and mistakes of a programmer. */
export async function applyTask(context: ApplyContext, task: PayloadTask): Promise<TaskFailure | undefined> {
  const failure = await attemptTask(context, task);
  // Order binds only while updating: what waiting cannot cure must not hold up what comes after it.
  return failure?.isFinal === true && context.state !== 'Updating' ? { ...failure, blocks: false } : failure;
}

async function attemptTask(context: ApplyContext, task: PayloadTask): Promise<TaskFailure | undefined> {
  if ('problem' in task) {
    return taskFailure(task, { reason: 'UpdatePayloadIntegrity', message: task.problem, isFinal: true });
  }
  try {
    if (treatmentOf(task.object) === 'delete') return await remove(context, task);
    const live = await bring(context, task);
    const problem = await problemOf(context, task.object, live);
    return problem === undefined ? undefined : taskFailure(task, { ...nameOfOperator(live), ...problem });
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    return failureOfCall(task, error);
  }
}

type ObjectTask = Extract<PayloadTask, { readonly object: KubernetesObject }>;

/** The object as the API has it afterwards. */
async function bring(context: ApplyContext, task: ObjectTask): Promise<KubernetesObject> {
  const { client, memory, signal } = context;
  const { source } = task;
  const desired = desiredObject(context, task.object);
  const isOnce = treatmentOf(task.object) === 'create-only';
  const known = memory.get(source);
  const live = isOnce || known !== undefined ? await client.find(referenceOf(desired), { signal }) : undefined;
  if (live !== undefined && (isOnce || projectionDigest(desired, live) === known)) return live;
  checkLease(context);
  const applied = isOnce
    ? await createOnce(client, desired, signal)
    : await client.apply(desired, { signal, force: true, manager: versionOperator.name });
  memory.set(source, projectionDigest(desired, applied));
  if (known !== undefined) {
    const what = live === undefined ? 'was gone and is made again' : 'was changed and is put right';
    context.log(`${referenceText(referenceOf(desired))} ${what} (${source})`);
  }
  return applied;
}

async function createOnce(
  client: KubernetesClient,
  desired: KubernetesObject,
  signal: AbortSignal,
): Promise<KubernetesObject> {
  try {
    return await client.create(desired, { signal });
  } catch (error) {
    // Another client created it first, which is as good.
    if (isError(error, kubernetesErrors.ALREADY_EXISTS)) return client.get(referenceOf(desired), { signal });
    throw error;
  }
}

/** The status belongs to whoever runs the object. The owner is the ClusterVersion, which no namespace limits. */
function desiredObject({ ownerUid }: ApplyContext, object: KubernetesObject): KubernetesObject {
  const { status: _, ...rest } = object;
  const { apiVersion, kind, name } = clusterVersionReference;
  const ownerReferences = [{ apiVersion, kind, name, uid: ownerUid }];
  return { ...rest, metadata: { ...object.metadata, ownerReferences } };
}

/** Only what this operator has applied before is removed: a user may have an object of the same name. */
async function remove(context: ApplyContext, task: ObjectTask): Promise<TaskFailure | undefined> {
  const { client, signal, log } = context;
  const reference = referenceOf(task.object);
  const live = await client.find(reference, { signal });
  if (live === undefined || !isOurs(live)) return undefined;
  const { uid, deletionTimestamp } = live.metadata;
  if (deletionTimestamp === undefined) {
    checkLease(context);
    log(`${referenceText(reference)} belongs to no release any more and is deleted (${task.source})`);
    await client.delete(reference, { signal, ...(uid === undefined ? {} : { uid }) });
    if ((await client.find(reference, { signal })) === undefined) return undefined;
  }
  const message = 'it is being deleted';
  return taskFailure(task, { reason: 'UpdatePayloadResourceConflict', message, effect: 'wait' });
}

function isOurs({ metadata }: KubernetesObject): boolean {
  const owners = (metadata['ownerReferences'] ?? []) as readonly { readonly kind?: string; readonly name?: string }[];
  return owners.some(
    ({ kind, name }) => kind === clusterVersionReference.kind && name === clusterVersionReference.name,
  );
}

const establishedMsMax = 5_000;
const establishedEveryMs = 200;

async function problemOf(
  context: ApplyContext,
  wanted: KubernetesObject,
  live: KubernetesObject,
): Promise<HealthProblem | undefined> {
  const { state, host } = context;
  if (isClusterOperator(live)) return operatorProblem(wanted, live, { state, now: host.clock.now() });
  if (isCrd(live)) return definitionProblem(context, live);
  return state === 'Initializing' ? undefined : workloadProblem(live);
}

/** Objects of the new kind come right behind it: to fail here would cost them a pause of seconds. */
async function definitionProblem(
  { client, host, signal }: ApplyContext,
  live: KubernetesObject,
): Promise<HealthProblem | undefined> {
  const endMs = host.clock.monotonicMs() + establishedMsMax;
  for (let seen = live; ; seen = await client.get(referenceOf(live), { signal })) {
    const established = establishedOrWhy(seen);
    if (established === true) return undefined;
    if (host.clock.monotonicMs() >= endMs) return { reason: 'UpdatePayloadResourceTypeMissing', message: established };
    await host.clock.sleep(establishedEveryMs, signal);
  }
}

function isClusterOperator({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === clusterOperatorKind.apiVersion && kind === clusterOperatorKind.kind;
}

function nameOfOperator(live: KubernetesObject): Pick<TaskFailure, 'operator'> {
  return isClusterOperator(live) ? { operator: live.metadata.name } : {};
}

/** Whether a task is the wait for an operator; its ClusterOperator is made before everything else of its chain. */
export function isOperatorTask(task: PayloadTask): boolean {
  return 'object' in task && isClusterOperator(task.object);
}

/** Puts a ClusterOperator there, so that people see what is to come; its status is the operator's. */
export async function announceOperator(context: ApplyContext, task: PayloadTask): Promise<void> {
  if (!isOperatorTask(task) || !('object' in task) || context.memory.has(task.source)) return;
  try {
    await bring(context, task);
  } catch (error) {
    // The task itself says what is wrong.
    context.signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
  }
}

function checkLease({ mayAct, signal }: ApplyContext): void {
  signal.throwIfAborted();
  if (!mayAct()) throw leaseLost();
}

function leaseLost(): FirstlightError {
  const about = { what: 'write', server: 'the API', reason: 'the Lease of this operator could not be renewed in time' };
  return kubernetesErrors.CONFLICT(about);
}
