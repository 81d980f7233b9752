// The published list of etcd endpoints: the voters on masters, by member id. The membership loop writes it. It is read
// before a member is removed (no client may use that member any more) and by masters that look for the other members.
import { etcdEndpoints } from '../contract/cluster-objects.ts';
import type { MemberId } from '../etcd/member.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { isMemberOf, type ObservedCluster } from './observed-cluster.ts';

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

/** The ids that are published: voters on masters, never learners, never the bootstrap member. */
export function membersToPublish(seen: ObservedCluster): readonly MemberId[] {
  if (seen.membership.status === 'unreadable') return [];
  return seen.membership.members
    .filter((member) => !member.isLearner && !isMemberOf(member, seen.bootstrap))
    .map((member) => member.id);
}
