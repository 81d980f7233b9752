// kube-apiserver, as the agents of masters keep it; this only tells how its pods are.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { judgeStaticPods, staticPodSightings } from './judge-static-pods.ts';
import type { Operator } from './operator.ts';

const component = 'kube-apiserver';

export const kubeApiserverOperator: Operator = {
  name: component,
  why: 'Everybody talks to the cluster through the API, which is there as long as one server answers.',
  level: 20,
  images: [],
  manifests: () => [],
  looksAt: staticPodSightings(component),
  judge: (seen) => judgeStaticPods(seen, { component, enough: () => 1 }),
  relatedObjects: [{ group: '', resource: 'namespaces', name: systemNamespace }],
};
