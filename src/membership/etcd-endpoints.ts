// Which members of etcd clients are told of: the voters on masters, by id. Written by whoever looks after the members,
// read before a member is removed (nobody may be pointed at it any more) and by masters that look for the others.
import { etcdEndpoints } from '../contract/cluster-objects.ts';
import { membersToPublish } from './membership-loop.ts';
import type { MemberId } from '../etcd/member.ts';
import type { ObservedCluster } from './observed-cluster.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

/** id → client URL. */
export type Endpoints = Readonly<Record<MemberId, string>>;

export function endpointsOf(seen: ObservedCluster): Endpoints {
  if (seen.membership.status === 'unreadable') return {};
  const ids = membersToPublish(seen);
  const published = seen.membership.members.filter(({ id }) => ids.includes(id));
  return Object.fromEntries(published.map(({ id, clientUrls }) => [id, clientUrls[0] ?? '']));
}

/** Undefined before the first publication. */
export function readEndpoints(configMaps: readonly KubernetesObject[]): Endpoints | undefined {
  const { name, namespace } = etcdEndpoints;
  const found = configMaps.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  return found === undefined ? undefined : ((found['data'] ?? {}) as Endpoints);
}

export async function publishEndpoints(
  client: KubernetesClient,
  endpoints: Endpoints,
  options: ApiCallOptions = {},
): Promise<void> {
  const { apiVersion, kind, name, namespace } = etcdEndpoints;
  await client.apply({ apiVersion, kind, metadata: { name, namespace }, data: endpoints }, { ...options, force: true });
}
