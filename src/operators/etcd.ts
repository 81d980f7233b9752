// etcd, as the agents of masters keep it. Who is a member is decided there too (membership/); this only tells.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { judgeStaticPods, staticPodSightings } from './judge-static-pods.ts';
import type { Operator } from './operator.ts';

const component = 'etcd';

export const etcdOperator: Operator = {
  name: component,
  why: 'Everything that the API knows is in etcd, and a majority of its members must answer.',
  level: 20,
  images: [],
  manifests: () => [],
  looksAt: staticPodSightings(component),
  judge: (seen) => judgeStaticPods(seen, { component, enough: (masters) => Math.floor(masters / 2) + 1 }),
  relatedObjects: [
    { group: '', resource: 'namespaces', name: systemNamespace },
    { group: '', resource: 'configmaps', namespace: systemNamespace, name: 'etcd-endpoints' },
  ],
};
