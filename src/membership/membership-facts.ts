// What a decision about the members of etcd depends on besides etcd itself, from objects of the API: the masters, their
// join records, and the state of the handoff. A pure function; look-after-members.ts reads the objects.
import { handoffConfigMap, isHandoffComplete, isLeaving } from '../contract/cluster-objects.ts';
import type { Inventory } from '../contract/inventory.ts';
import { etcdPorts, httpsUrl } from '../contract/ports.ts';
import type { MemberId } from '../etcd/member.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { readEndpoints } from './etcd-endpoints.ts';
import { type JoinRecord, readJoinRecord } from './join-record.ts';
import type { BootstrapMachine, Handoff, MembershipFacts, ObservedMaster, Readiness } from './observed-cluster.ts';

export interface FactsSources {
  readonly inventory: Inventory;
  /** The ConfigMaps of kube-system. */
  readonly configMaps: readonly KubernetesObject[];
  readonly nodes: readonly KubernetesObject[];
  /** Names of the masters whose API server reported a moment ago that it is ready. */
  readonly readyApiServers: readonly string[];
  readonly bootstrapApi: Handoff['bootstrapApi'];
  readonly maxLearners: number;
  readonly now: Date;
}

export function membershipFacts(sources: FactsSources): MembershipFacts {
  const { inventory, configMaps, readyApiServers, bootstrapApi, maxLearners } = sources;
  const published = readEndpoints(configMaps);
  return {
    bootstrap: bootstrapOf(inventory),
    masters: mastersOf(sources),
    maxLearners,
    handoff: {
      isCommitted: isCommitted(configMaps),
      readyApiServers,
      bootstrapApi,
      publishedMembers: published === undefined ? undefined : (Object.keys(published) as MemberId[]),
    },
  };
}

function isCommitted(configMaps: readonly KubernetesObject[]): boolean {
  const { name, namespace } = handoffConfigMap;
  return isHandoffComplete(
    configMaps.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
  );
}

function bootstrapOf({ machines }: Inventory): BootstrapMachine | undefined {
  const machine = machines.find(({ role }) => role === 'bootstrap');
  return machine === undefined ? undefined : { name: machine.name, ...memberUrlsOf(machine.addresses[0] ?? '') };
}

function memberUrlsOf(address: string): { readonly peerUrl: string; readonly clientUrl: string } {
  return { peerUrl: httpsUrl(address, etcdPorts.peer), clientUrl: httpsUrl(address, etcdPorts.client) };
}

function mastersOf({ inventory, configMaps, nodes, now }: FactsSources): readonly ObservedMaster[] {
  const records = new Map(configMaps.flatMap((object) => recordEntry(object)));
  const expected = inventory.machines.filter(({ role }) => role === 'master');
  const others = [...records.values()].filter((record) => !expected.some(({ name }) => name === record.node));
  const listed = expected.map(({ name, addresses }) => ({ name, address: addresses[0] ?? '', isListed: true }));
  const unlisted = others.map(({ node, address }) => ({ name: node, address, isListed: !inventory.isClosed }));
  return [...listed, ...unlisted]
    .map(({ name, address, isListed }) => {
      const node = nodes.find(({ metadata }) => metadata.name === name);
      const record = records.get(name);
      return {
        name,
        ...memberUrlsOf(address),
        readiness: record === undefined ? undefined : readinessOf(record, now),
        lostDataOf: record?.lostDataOf,
        freeDiskBytes: record?.freeDiskBytes,
        isLeaving: !isListed || (node !== undefined && isLeaving(node)),
        isGone: !isListed && node === undefined,
      };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function recordEntry(object: KubernetesObject): readonly (readonly [string, JoinRecord])[] {
  const record = readJoinRecord(object);
  return record === undefined ? [] : [[record.node, record]];
}

/** Undefined for a master that does not report (any more) that it is ready. */
function readinessOf(record: JoinRecord, now: Date): Readiness | undefined {
  if (!record.isReady) return undefined;
  const { etcdVersion, fsyncP99Ms, clockOffsetMs } = record;
  // The clock of the machine may be wrong, but its offset is known, so the age can still be computed.
  const agoMs = Math.max(0, now.getTime() - (record.at.getTime() - clockOffsetMs));
  return { agoMs, etcdVersion, fsyncP99Ms, clockOffsetMs };
}
