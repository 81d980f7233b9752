// Whether the etcd member of a machine may start now, decided from the member list and the data on the machine's disk.
// Rules: data of a current voter is never deleted; a member that lost its data never starts empty (it would still count
// as a holder of entries that it lost); a member without a name joins with exactly the listed peers.
import { type Missing, waitingFor } from '../contract/missing.ts';
import type { DataFolder } from '../etcd/data-folder.ts';
import type { ClusterId, InitialMember, Member, MemberId, MemberList } from '../etcd/member.ts';

/** The member list; `unreachable` when no member gave one. */
export type Listing = { readonly status: 'unreachable' } | ({ readonly status: 'read' } & MemberList);

export interface StartFacts {
  readonly name: string;
  readonly peerUrl: string;
  readonly listing: Listing;
  readonly data: DataFolder;
  /** Names of the machines by peer URL, for members that have not published their name yet. */
  readonly names: ReadonlyMap<string, string>;
}

export type StartDecision =
  | { readonly kind: 'join'; readonly initialCluster: readonly InitialMember[] }
  | { readonly kind: 'resume' }
  /** Move `member/` away, then decide again: the member it belonged to is no longer in the list. */
  | { readonly kind: 'archive'; readonly because: string }
  | { readonly kind: 'wait'; readonly for: Missing }
  /** The member must be removed and added again; published in the join record, so that the membership loop does it. */
  | { readonly kind: 'data-lost'; readonly member: MemberId; readonly because: string };

export function decideStart(facts: StartFacts): StartDecision {
  const { listing, data, name } = facts;
  if (listing.status === 'unreachable') {
    return data.status === 'present'
      ? { kind: 'resume' }
      : { kind: 'wait', for: waitingFor('a member of etcd that answers,', `to learn whether ${name} has been added`) };
  }
  const self = listing.members.find((member) => member.peerUrls.includes(facts.peerUrl));
  if (self === undefined) return decideUnlisted(facts, listing.clusterId);
  return self.name === '' ? decideAdded(facts, listing.members, self) : decideStarted(facts, self);
}

function decideAdded(facts: StartFacts, members: readonly Member[], self: Member): StartDecision {
  const { data, name } = facts;
  if (data.status === 'empty') return { kind: 'join', initialCluster: initialCluster(facts, members) };
  // It may have started a moment ago, and the list does not have its name yet.
  if (data.member === self.id) return { kind: 'resume' };
  return {
    kind: 'archive',
    because: `${name} was added anew as ${self.id}; its data is that of member ${data.member}`,
  };
}

function decideStarted({ data, name }: StartFacts, self: Member): StartDecision {
  if (data.status === 'present' && data.member === self.id) return { kind: 'resume' };
  const found = data.status === 'empty' ? 'no data' : `data of member ${data.member}`;
  return { kind: 'data-lost', member: self.id, because: `${name} is member ${self.id} but has ${found}` };
}

function decideUnlisted({ data, name }: StartFacts, cluster: ClusterId): StartDecision {
  if (data.status === 'empty') return { kind: 'wait', for: waitingFor(name, 'to be added to etcd') };
  if (data.cluster !== cluster) {
    return { kind: 'archive', because: `the data of ${name} is of another cluster, ${data.cluster}` };
  }
  const detail = `its member ${data.member} was removed`;
  return { kind: 'wait', for: waitingFor(name, 'to be added to etcd again', { detail }) };
}

/**
 * All listed peers, also those that have not started: etcd compares the number as well as the URLs. In order of names,
 * so that the same members always give the same command line.
 */
function initialCluster(facts: StartFacts, members: readonly Member[]): readonly InitialMember[] {
  const listed = members.flatMap(({ id, name, peerUrls }) =>
    peerUrls.map((peerUrl) => ({
      peerUrl,
      name: peerUrl === facts.peerUrl ? facts.name : name || (facts.names.get(peerUrl) ?? id),
    })),
  );
  return listed.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
