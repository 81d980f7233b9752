// What an operator sees, made up for tests: objects of a small cluster at one moment.
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { OperatorSight } from './operator.ts';

export const sampleNow = new Date('2026-01-01T12:00:00Z');
export const minutesAgo = (minutes: number): string => new Date(sampleNow.getTime() - minutes * 60_000).toISOString();

export function sightOf(objects: readonly KubernetesObject[]): OperatorSight {
  return {
    version: '1.0.0',
    capabilities: [],
    now: sampleNow,
    objects: (kind) => objects.filter((object) => object.kind === kind),
  };
}

export function seenNode(
  name: string,
  more: { readonly age?: number; readonly [field: string]: unknown } = {},
): KubernetesObject {
  const { age = 60, ...rest } = more;
  const labels = name.startsWith('master') ? { 'node-role.kubernetes.io/control-plane': '' } : {};
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, creationTimestamp: minutesAgo(age) },
    spec: { podCIDRs: ['10.128.0.0/23'] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
    ...rest,
  };
}

export interface SamplePod {
  readonly name: string;
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly image?: string;
  /** Ready where nothing is said. */
  readonly status?: object;
}

export function samplePod({ name, node, labels = {}, image = 'i@sha256:1', status }: SamplePod): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system', labels, creationTimestamp: minutesAgo(30) },
    spec: { ...(node === undefined ? {} : { nodeName: node }), containers: [{ image }] },
    status: status ?? { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** A status of a pod that is not Ready since so many minutes, with the state of its one container. */
export function notReadySince(minutes: number, container: object = {}): object {
  return {
    phase: 'Running',
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        message: 'containers with unready status: [main]',
        lastTransitionTime: minutesAgo(minutes),
      },
    ],
    containerStatuses: [{ name: 'main', ready: false, restartCount: 0, ...container }],
  };
}
