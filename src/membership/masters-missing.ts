// What is missing before one master may go down: the others must be Ready, serve the API and vote in etcd, and every
// member must answer. A pure function of one look.
import { type Missing, waitingFor } from '../contract/missing.ts';
import { expectedMasters, isAnswering, isMemberOf, type ObservedCluster } from './observed-cluster.ts';

export interface MastersView {
  readonly seen: ObservedCluster;
  /** Names of the masters whose Node is Ready. */
  readonly readyNodes: ReadonlySet<string>;
  /** The master that goes down; empty for any of them. */
  readonly except: string;
}

export function mastersMissing({ seen, readyNodes, except }: MastersView): readonly Missing[] {
  const { membership, handoff } = seen;
  if (membership.status === 'unreadable') return [membership.missing];
  if (membership.members.some((member) => isMemberOf(member, seen.bootstrap))) {
    return [waitingFor('the bootstrap machine', 'to leave etcd')];
  }
  const others = expectedMasters(seen).filter(({ name }) => name !== except);
  const silent = membership.members.filter((member) => !isAnswering(member));
  return [
    ...others.flatMap((master): Missing[] => {
      const { name } = master;
      const member = membership.members.find((each) => isMemberOf(each, master));
      if (!readyNodes.has(name)) return [waitingFor(name, 'to be Ready')];
      if (!handoff.readyApiServers.includes(name)) return [waitingFor(name, 'to serve the API')];
      if (member === undefined || member.isLearner) return [waitingFor(name, 'to vote in etcd')];
      return [];
    }),
    ...silent.map(({ name, id }) => waitingFor('the etcd member', `${name || id} to answer`)),
  ];
}
