// How the Deployments and DaemonSets of an operator are: whether they serve, and whether they are being rolled out. A
// pure function of what was seen.
import { z } from 'zod';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { OperatorHealth, OperatorSight, Sighting, Verdict } from './operator.ts';

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
const deploymentSchema = z.object({
  spec: z.object({ replicas: count }),
  status: z.object({ updatedReplicas: count, availableReplicas: count }).nullish(),
});

export function judgeWorkloads(seen: OperatorSight, workloads: readonly Workload[]): Omit<OperatorHealth, 'versions'> {
  const rows = workloads.map(({ kind, namespace, name }) => {
    const found = seen.objects(kind).find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    const read = found && deploymentSchema.safeParse(found).data;
    const wanted = read?.spec.replicas ?? 1;
    const isDone = (read?.status?.updatedReplicas ?? 0) >= wanted && (read?.status?.availableReplicas ?? 0) >= wanted;
    const available = found && conditionOf(found, 'Available');
    return { name: `${kind} ${namespace}/${name}`, serves: available?.status === 'True', isDone };
  });
  const away = rows.filter(({ serves }) => !serves).map(({ name }) => name);
  const moving = rows.filter(({ isDone }) => !isDone).map(({ name }) => name);
  return {
    available: verdict(away.length === 0, 'NotAvailable', `${away.join(', ')} is not available`),
    progressing: verdict(moving.length > 0, 'RollingOut', moving.join(', ')),
    degraded: { isSo: false, reason: 'AsExpected', message: 'no pod is stuck' },
  };
}

function verdict(isSo: boolean, reason: string, message: string): Verdict {
  return { isSo, reason: message === '' ? 'AsExpected' : reason, message };
}
