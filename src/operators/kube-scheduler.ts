// kube-scheduler, as the agents of masters keep it; this only tells how its pods are.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { judgeStaticPods, staticPodSightings } from './judge-static-pods.ts';
import type { Operator } from './operator.ts';

const component = 'kube-scheduler';

export const schedulerOperator: Operator = {
  name: component,
  why: 'Without it no new pod gets a node. One of them leads, the others wait to take over.',
  level: 25,
  images: [],
  manifests: () => [],
  looksAt: staticPodSightings(component),
  judge: (seen) => judgeStaticPods(seen, { component, enough: () => 1 }),
  relatedObjects: [{ group: '', resource: 'namespaces', name: systemNamespace }],
};
