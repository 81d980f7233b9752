import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { judgeWorkloads, type Workload } from './judge-workloads.ts';
import { notReadySince, samplePod, sightOf } from './sample-sight.ts';

const deployment: Workload = { kind: 'Deployment', namespace: 'kube-system', name: 'web' };
const daemonSet: Workload = { kind: 'DaemonSet', namespace: 'kube-system', name: 'each' };
const labels = { app: 'web' };

function object({ kind, name, namespace }: Workload, spec: object, status: object): KubernetesObject {
  const metadata = { name, namespace, generation: 2 };
  return { apiVersion: 'apps/v1', kind, metadata, spec: { selector: { matchLabels: labels }, ...spec }, status };
}

const isAvailable = (isSo: boolean): object => ({ type: 'Available', status: isSo ? 'True' : 'False' });
const rolledOut = {
  observedGeneration: 2,
  updatedReplicas: 2,
  availableReplicas: 2,
  conditions: [isAvailable(true)],
};
const broken = notReadySince(2, { state: { waiting: { reason: 'ImagePullBackOff', message: 'not found' } } });

interface Case {
  readonly title: string;
  readonly objects: readonly KubernetesObject[];
  /** Available, Progressing, Degraded. */
  readonly verdicts: readonly [boolean, boolean, boolean];
  readonly says: string;
}

const two = { replicas: 2 };
const cases: readonly Case[] = [
  {
    title: 'is rolled out',
    objects: [object(deployment, two, rolledOut)],
    verdicts: [true, false, false],
    says: 'Deployment kube-system/web serves',
  },
  {
    title: 'is rolled out beside a pod that ended with its machine an hour ago',
    objects: [
      object(deployment, two, rolledOut),
      samplePod({ name: 'web-0', node: 'worker-0', labels, status: { ...notReadySince(60), phase: 'Failed' } }),
    ],
    verdicts: [true, false, false],
    says: 'Deployment kube-system/web serves',
  },
  {
    title: 'is not in the API',
    objects: [],
    verdicts: [false, true, false],
    says: 'Deployment kube-system/web is not in the cluster yet',
  },
  {
    title: 'was changed a moment ago',
    objects: [object(deployment, two, { ...rolledOut, observedGeneration: 1 })],
    verdicts: [true, true, false],
    says: 'of 2 pods 2 are of this version and 2 are available',
  },
  {
    title: 'serves with one pod, and the other cannot start',
    objects: [
      object(deployment, two, { ...rolledOut, availableReplicas: 1 }),
      samplePod({ name: 'web-1', node: 'worker-0', labels, status: broken }),
    ],
    verdicts: [true, true, true],
    says: 'pod web-1 on worker-0: container main waits, ImagePullBackOff: not found',
  },
  {
    title: 'does not serve, and names the pod and its node',
    objects: [
      object(deployment, two, { observedGeneration: 2, updatedReplicas: 2, conditions: [isAvailable(false)] }),
      samplePod({ name: 'web-1', node: 'worker-0', labels, status: notReadySince(1) }),
      samplePod({ name: 'other', node: 'worker-0', labels: { app: 'x' }, status: broken }),
    ],
    verdicts: [false, true, false],
    says: 'Deployment kube-system/web is not available: pod web-1 on worker-0 is not Ready',
  },
  {
    title: 'has stopped to roll out',
    objects: [
      object(deployment, two, {
        ...rolledOut,
        updatedReplicas: 1,
        conditions: [isAvailable(true), { type: 'Progressing', status: 'False', message: 'deadline exceeded' }],
      }),
    ],
    verdicts: [true, true, true],
    says: 'Deployment kube-system/web: deadline exceeded',
  },
];

describe('a Deployment that', () => {
  test.each(cases)('$title', ({ objects, verdicts, says }) => {
    const { available, progressing, degraded } = judgeWorkloads(sightOf(objects), [deployment]);
    expect([available.isSo, progressing.isSo, degraded.isSo]).toEqual(verdicts);
    expect([available, progressing, degraded].map(({ message }) => message).join('\n')).toContain(says);
    for (const { reason } of [available, progressing, degraded]) expect(reason).toMatch(/^[A-Z][A-Za-z]+$/);
  });
});

describe('a DaemonSet', () => {
  const counts = { observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 };
  test.each([
    ['with a pod on every node', counts, [true, false, false]],
    ['without a node that it is for', { observedGeneration: 2, desiredNumberScheduled: 0 }, [true, false, false]],
    ['with a pod that is on its way', { ...counts, numberAvailable: 2 }, [true, true, false]],
    ['without any pod', { ...counts, numberAvailable: 0 }, [false, true, false]],
  ])('%s', (_, status, verdicts) => {
    const judged = judgeWorkloads(sightOf([object(daemonSet, {}, status)]), [daemonSet]);
    expect([judged.available.isSo, judged.progressing.isSo, judged.degraded.isSo]).toEqual(verdicts);
  });
});
