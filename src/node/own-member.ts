// The etcd member of this machine: its entry in the member list, the data on its disk, and what follows from both.
import { etcdDataFolder } from '../contract/machine-paths.ts';
import { etcdPorts, httpsUrl } from '../contract/ports.ts';
import { readDataFolder } from '../etcd/data-folder.ts';
import type { Member } from '../etcd/member.ts';
import { readEndpoints } from '../membership/etcd-endpoints.ts';
import { decideStart, type Listing, type StartDecision } from '../membership/member-start.ts';
import { type Agent, addressOf } from './agent-context.ts';
import { knownInventory } from './known-inventory.ts';

export interface OwnMember {
  readonly listing: Listing;
  /** The entry of this machine in the list. */
  readonly self: Member | undefined;
  readonly decision: StartDecision;
  readonly peerUrl: string;
  readonly clientUrl: string;
}

export async function observeOwnMember(agent: Agent): Promise<OwnMember> {
  const { host, node } = agent;
  const peerUrl = httpsUrl(addressOf(agent), etcdPorts.peer);
  const clientUrl = httpsUrl(addressOf(agent), etcdPorts.client);
  const machines = await controlPlaneMachines(agent);
  const urls = [...machines.map(({ address }) => httpsUrl(address, etcdPorts.client)), clientUrl];
  const published = Object.values(readEndpoints(agent.cluster.configMaps) ?? {});
  const listing = await readListing(agent, [...new Set([...urls, ...published])]);
  // The data is read after the list: a listed member with a name had its data before it had the name. In the other
  // order, a member that starts in between looks like one that lost its data, and would be removed.
  const data = await readDataFolder(host.files, etcdDataFolder);
  const names = new Map(machines.map(({ name, address }) => [httpsUrl(address, etcdPorts.peer), name]));
  const decision = decideStart({ name: node.name, peerUrl, listing, data, names });
  const self = listing.status === 'read' ? listing.members.find((each) => each.peerUrls.includes(peerUrl)) : undefined;
  return { listing, self, decision, peerUrl, clientUrl };
}

async function controlPlaneMachines(agent: Agent): Promise<readonly { name: string; address: string }[]> {
  const inventory = await knownInventory(agent.host, agent.cluster);
  return (inventory?.machines ?? [])
    .filter(({ role }) => role !== 'worker')
    .map(({ name, addresses }) => ({ name, address: addresses[0] ?? '' }));
}

const listMs = 1_000;

/** The URL that gave the list last. Only this URL is used while it answers: most of the others may not run yet. */
const lastAnswered = new WeakMap<Agent, string>();

/** The first list that a member gives and a majority has confirmed. */
async function readListing(agent: Agent, urls: readonly string[]): Promise<Listing> {
  const last = lastAnswered.get(agent);
  if (last !== undefined && urls.includes(last)) {
    const listing = await askAll(agent, [last]);
    if (listing.status === 'read') return listing;
  }
  return askAll(agent, urls);
}

async function askAll(agent: Agent, urls: readonly string[]): Promise<Listing> {
  const clients = await agent.etcd();
  const answered = new AbortController();
  const signal = AbortSignal.any([answered.signal, agent.signal]);
  const ask = async (url: string): Promise<Listing> => {
    const answer = await clients.at(url).memberList({ isLinearizable: true, timeoutMs: listMs, signal });
    if (answer.status === 'failed') throw new Error(answer.said);
    lastAnswered.set(agent, url);
    return { status: 'read', ...answer.value };
  };
  try {
    return await Promise.any(urls.map(ask));
  } catch {
    agent.signal.throwIfAborted();
    return { status: 'unreachable' };
  } finally {
    answered.abort(new Error('another member has given the list'));
  }
}
