// How the Deployments and DaemonSets of an operator are: whether they serve, whether they are being rolled out, and
// what keeps them from it. A pure function of what was seen; the words name the pod, its node and the cause.
import { z } from 'zod';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { OperatorHealth, OperatorSight, Sighting, Verdict } from './operator.ts';
import { type PodTrouble, podTrouble } from './pod-trouble.ts';

export interface Workload {
  readonly kind: 'Deployment' | 'DaemonSet';
  readonly namespace: string;
  readonly name: string;
}

/** What `judgeWorkloads` looks at: the workloads by name, and the pods of their namespaces. */
export function workloadSightings(workloads: readonly Workload[]): readonly Sighting[] {
  const namespaces = [...new Set(workloads.map(({ namespace }) => namespace))];
  return [
    ...workloads.map((workload) => ({ apiVersion: 'apps/v1', ...workload })),
    ...namespaces.map((namespace) => ({ apiVersion: 'v1', kind: 'Pod', namespace })),
  ];
}

const count = z.number().nullish();
const workloadSchema = z.object({
  spec: z.object({
    replicas: count,
    selector: z.object({ matchLabels: z.record(z.string(), z.string()).nullish() }).nullish(),
  }),
  status: z
    .object({
      observedGeneration: count,
      updatedReplicas: count,
      availableReplicas: count,
      desiredNumberScheduled: count,
      updatedNumberScheduled: count,
      numberAvailable: count,
    })
    .nullish(),
});

/** One workload, with the kinds that count in different words made one. */
interface RollOut {
  readonly name: string;
  readonly isThere: boolean;
  /** The controller has seen the newest version of the object. */
  readonly isSeen: boolean;
  readonly wanted: number;
  readonly updated: number;
  readonly available: number;
  readonly serves: boolean;
  /** Its controller has given up. */
  readonly failure: string | undefined;
  readonly troubles: readonly PodTrouble[];
}

export function judgeWorkloads(seen: OperatorSight, workloads: readonly Workload[]): Omit<OperatorHealth, 'versions'> {
  const rollOuts = workloads.map((workload) => rollOutOf(seen, workload));
  return { available: availability(rollOuts), progressing: movement(rollOuts), degraded: degradation(rollOuts) };
}

function rollOutOf(seen: OperatorSight, workload: Workload): RollOut {
  const name = `${workload.kind} ${workload.namespace}/${workload.name}`;
  const found = seen.objects(workload.kind).find((object) => isNamed(object, workload));
  const { spec, status } = (found && workloadSchema.safeParse(found).data) ?? {};
  const isDeployment = workload.kind === 'Deployment';
  const wanted = (isDeployment ? (spec?.replicas ?? 1) : status?.desiredNumberScheduled) ?? 0;
  const available = (isDeployment ? status?.availableReplicas : status?.numberAvailable) ?? 0;
  const condition = found && conditionOf(found, 'Available');
  const progress = found && conditionOf(found, 'Progressing');
  const isSeen = (status?.observedGeneration ?? -1) >= Number(found?.metadata['generation'] ?? 0);
  return {
    name,
    isThere: found !== undefined,
    isSeen,
    wanted,
    updated: (isDeployment ? status?.updatedReplicas : status?.updatedNumberScheduled) ?? 0,
    available,
    serves: isDeployment ? condition?.status === 'True' : isSeen && (available > 0 || wanted === 0),
    failure: progress?.status === 'False' ? progress.message || 'its roll-out has stopped' : undefined,
    troubles: podsOf(seen, workload, spec?.selector?.matchLabels ?? {}).flatMap((pod) => {
      const trouble = podTrouble(pod, seen.now);
      return trouble === undefined ? [] : [trouble];
    }),
  };
}

function isNamed({ metadata }: KubernetesObject, { namespace, name }: Workload): boolean {
  return metadata.namespace === namespace && metadata.name === name;
}

const podPhase = z.object({ status: z.object({ phase: z.string().nullish() }).nullish() });

/** One that was evicted, or ended with its machine: another took its place, and the API keeps it for a long time. */
function hasEnded(pod: KubernetesObject): boolean {
  return podPhase.safeParse(pod).data?.status?.phase === 'Failed';
}

function podsOf(
  seen: OperatorSight,
  { namespace }: Workload,
  labels: Readonly<Record<string, string>>,
): readonly KubernetesObject[] {
  const wanted = Object.entries(labels);
  if (wanted.length === 0) return [];
  return seen
    .objects('Pod')
    .filter(({ metadata }) => metadata.namespace === namespace && metadata.deletionTimestamp === undefined)
    .filter((pod) => !hasEnded(pod))
    .filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value));
}

function availability(rollOuts: readonly RollOut[]): Verdict {
  const away = rollOuts.filter(({ serves }) => !serves);
  const [first] = away;
  if (first === undefined) {
    const verb = rollOuts.length === 1 ? 'serves' : 'serve';
    return { isSo: true, reason: 'AsExpected', message: `${rollOuts.map(({ name }) => name).join(', ')} ${verb}` };
  }
  const reason = first.troubles[0]?.reason ?? 'NotAvailable';
  return { isSo: false, reason, message: away.map(whyAway).join('; ') };
}

function whyAway(rollOut: RollOut): string {
  const { name, isThere, isSeen, troubles, failure } = rollOut;
  if (!isThere) return `${name} is not in the cluster yet`;
  if (!isSeen) return `the controller manager has not looked at ${name} yet`;
  const [trouble] = troubles;
  return `${name} is not available: ${trouble?.sentence ?? failure ?? countsOf(rollOut)}`;
}

function movement(rollOuts: readonly RollOut[]): Verdict {
  const moving = rollOuts.filter((each) => !isRolledOut(each));
  if (moving.length === 0) return { isSo: false, reason: 'AsExpected', message: 'everything is rolled out' };
  const message = moving.map((each) => (each.isThere ? `${each.name}: ${countsOf(each)}` : whyAway(each))).join('; ');
  return { isSo: true, reason: 'RollingOut', message };
}

function isRolledOut({ isThere, isSeen, wanted, updated, available }: RollOut): boolean {
  return isThere && isSeen && updated >= wanted && available >= wanted;
}

function countsOf({ wanted, updated, available }: RollOut): string {
  return `of ${wanted} pods ${updated} are of this version and ${available} are available`;
}

function degradation(rollOuts: readonly RollOut[]): Verdict {
  const found = rollOuts.flatMap(({ name, troubles, failure }) => [
    ...troubles
      .filter(({ isStuck }) => isStuck)
      .map(({ reason, sentence }) => ({ reason, sentence: `${name}: ${sentence}` })),
    ...(failure === undefined ? [] : [{ reason: 'RollOutStopped', sentence: `${name}: ${failure}` }]),
  ]);
  const [first] = found;
  if (first === undefined) return { isSo: false, reason: 'AsExpected', message: 'no pod is stuck' };
  return { isSo: true, reason: first.reason, message: found.map(({ sentence }) => sentence).join('; ') };
}
