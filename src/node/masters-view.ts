// What is missing before a master may go down, for the controllers that take masters down one at a time.
import { type Missing, waitingFor } from '../contract/missing.ts';
import { apiPort } from '../contract/ports.ts';
import { bundleFile } from '../control-plane/control-plane-paths.ts';
import { isReadyNode } from '../kubernetes/node-object.ts';
import { apiReadiness } from '../kubernetes/readiness.ts';
import { mastersMissing } from '../membership/masters-missing.ts';
import { membershipFacts } from '../membership/membership-facts.ts';
import { observe } from '../membership/observe-members.ts';
import type { ObservedMaster } from '../membership/observed-cluster.ts';
import { sightings } from '../membership/sightings.ts';
import { type Agent, controlPlaneOf } from './agent-context.ts';
import { knownInventory } from './known-inventory.ts';

/** Asks every master's API and every member of etcd, each time anew: what they said before a reboot counts nothing. */
export async function openMastersView(agent: Agent): Promise<(except: string) => Promise<readonly Missing[]>> {
  const { host, cluster, signal } = agent;
  const ca = await host.files.readText(bundleFile('apiserver-ca'));
  const remembered = sightings();
  return async (except) => {
    const inventory = await knownInventory(host, cluster);
    if (inventory === undefined) return [waitingFor('the inventory of machines that may join')];
    const { nodes = [], configMaps } = cluster;
    const { masters: maxLearners } = controlPlaneOf(agent);
    const now = host.clock.now();
    const handoff = { readyApiServers: [], bootstrapApi: 'closed' } as const;
    const known = membershipFacts({ inventory, configMaps, nodes, ...handoff, maxLearners, now });
    const readyApiServers = await apiServersReady(agent, known.masters, ca);
    const facts = { ...known, handoff: { ...known.handoff, readyApiServers } };
    const clients = await agent.etcd();
    const seen = await observe({ clients, clock: host.clock, facts, sightings: remembered, signal });
    const readyNodes = new Set(nodes.filter(isReadyNode).map(({ metadata }) => metadata.name));
    return mastersMissing({ seen, readyNodes, except });
  };
}

async function apiServersReady(
  { kept }: Agent,
  masters: readonly Pick<ObservedMaster, 'name' | 'clientUrl'>[],
  ca: string,
): Promise<readonly string[]> {
  const answers = masters.map(async ({ name, clientUrl }) => {
    const url = new URL(clientUrl);
    url.port = String(apiPort);
    return (await apiReadiness({ network: kept }, { url: url.origin, ca })).status === 'ready' ? [name] : [];
  });
  return (await Promise.all(answers)).flat();
}
