// Whether an object that was applied does what it is there for: a definition is established, a workload runs, an
// operator is available and has the version of the release. Pure: a verdict on what the API sent.
import type { ClusterOperatorStatus, ConditionStatus } from '../contract/cluster-version.ts';
import { conditionOf, type ObjectCondition } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { TaskFailure } from './task-failure.ts';
import type { OperatorState } from './task-graph.ts';

export type HealthProblem = Pick<TaskFailure, 'reason' | 'message'> & Partial<Pick<TaskFailure, 'effect' | 'blocks'>>;

const minuteMs = 60_000;
const degradedMsMax = 40 * minuteMs;
const updatingMsMax = 30 * minuteMs;
/** Its nodes go one after the other. */
const updatingMsMaxOf: Readonly<Record<string, number>> = { 'machine-config': 90 * minuteMs };

export interface HealthFacts {
  readonly state: OperatorState;
  readonly now: Date;
}

/** A ClusterOperator as the payload wants it, and as it is. */
export function operatorProblem(
  wanted: KubernetesObject,
  live: KubernetesObject,
  { state, now }: HealthFacts,
): HealthProblem | undefined {
  const { name } = live.metadata;
  const available = conditionOf(live, 'Available');
  const degraded = conditionOf(live, 'Degraded');
  const progressing = conditionOf(live, 'Progressing');
  const sinceMs = (condition: ObjectCondition | undefined): number =>
    now.getTime() - (condition?.since?.getTime() ?? now.getTime());
  const limitMs = updatingMsMaxOf[name] ?? updatingMsMax;
  if (!is(available, 'True')) {
    const message = `Cluster operator ${name} is not available${said(available)}`;
    // An operator that comes up for the first time is not broken, unless it takes too long.
    const isComing = state === 'Initializing' && (progressing === undefined || is(progressing, 'True'));
    const effect = isComing ? (sinceMs(progressing) > limitMs ? 'slow' : 'wait') : 'fail';
    return { reason: 'ClusterOperatorNotAvailable', message, effect };
  }
  if (!is(degraded, 'False')) {
    const message = `Cluster operator ${name} is degraded${said(degraded)}`;
    if (state === 'Initializing') return { reason: 'ClusterOperatorDegraded', message, effect: 'fail', blocks: false };
    const effect = sinceMs(degraded) > degradedMsMax ? 'fail' : 'wait';
    return { reason: 'ClusterOperatorDegraded', message, effect };
  }
  const lagging = state === 'Initializing' ? [] : laggingVersions(wanted, live);
  if (lagging.length === 0) return undefined;
  const effect = sinceMs(progressing) > limitMs ? 'slow' : 'wait';
  const message = `Cluster operator ${name} is updating versions of ${lagging.join(', ')}`;
  return { reason: 'ClusterOperatorUpdating', message, effect };
}

function laggingVersions(wanted: KubernetesObject, live: KubernetesObject): readonly string[] {
  const versionsOf = (object: KubernetesObject): ClusterOperatorStatus['versions'] =>
    (object['status'] as Partial<ClusterOperatorStatus> | undefined)?.versions ?? [];
  const has = versionsOf(live);
  return versionsOf(wanted)
    .filter(({ name, version }) => !has.some((each) => each.name === name && each.version === version))
    .map(({ name }) => name);
}

interface WorkloadStatus {
  readonly numberAvailable?: number;
  readonly desiredNumberScheduled?: number;
}

/** A Deployment, DaemonSet or Job; every other kind has no health of its own. */
export function workloadProblem(live: KubernetesObject): HealthProblem | undefined {
  const say = (reason: HealthProblem['reason'], condition: ObjectCondition | undefined): HealthProblem => ({
    reason,
    message: condition?.message || 'it says no reason',
  });
  if (live.kind === 'Deployment') {
    const failure = conditionOf(live, 'ReplicaFailure');
    if (is(failure, 'True')) return say('WorkloadNotProgressing', failure);
    const progressing = conditionOf(live, 'Progressing');
    const available = conditionOf(live, 'Available');
    if (is(progressing, 'False')) {
      return say(is(available, 'False') ? 'WorkloadNotAvailable' : 'WorkloadNotProgressing', progressing);
    }
    return undefined;
  }
  if (live.kind === 'DaemonSet') {
    const { numberAvailable = 0, desiredNumberScheduled = 0 } = (live['status'] ?? {}) as WorkloadStatus;
    if (desiredNumberScheduled === 0 || numberAvailable > 0) return undefined;
    const message = `none of its ${desiredNumberScheduled} pods is available`;
    return { reason: 'WorkloadNotAvailable', message };
  }
  if (live.kind !== 'Job' || is(conditionOf(live, 'Complete'), 'True')) return undefined;
  const failed = conditionOf(live, 'Failed');
  if (is(failed, 'True')) return say('WorkloadNotProgressing', failed);
  return { reason: 'WorkloadNotAvailable', message: 'it has not completed yet', effect: 'wait' };
}

function is(condition: ObjectCondition | undefined, status: ConditionStatus): boolean {
  return condition?.status === status;
}

function said(condition: ObjectCondition | undefined): string {
  return condition === undefined || condition.message === '' ? '' : `: ${condition.message}`;
}
