// The pool controller of machine configuration. One master at a time runs it, under a Lease; it gives the Lease back
// when its machine goes down, so that another goes on with the roll-out. It waits for the end of the bootstrap: until
// then machines get what the bootstrap machine rendered, and nothing moves.
import { isBootstrapOver } from '../../contract/bootstrap-progress.ts';
import { rolloutLease, systemNamespace } from '../../contract/cluster-objects.ts';
import { type Missing, waitingFor } from '../../contract/missing.ts';
import { apiPort } from '../../contract/ports.ts';
import { bundleFile } from '../../control-plane/control-plane-paths.ts';
import { leadWhile } from '../../kubernetes/lease.ts';
import { isReadyNode } from '../../kubernetes/node-object.ts';
import { apiReadiness } from '../../kubernetes/readiness.ts';
import { mastersMissing } from '../../membership/masters-missing.ts';
import { membershipFacts } from '../../membership/membership-facts.ts';
import { observe } from '../../membership/observe-members.ts';
import type { ObservedMaster } from '../../membership/observed-cluster.ts';
import { sightings } from '../../membership/sightings.ts';
import { type Agent, controlPlaneOf } from '../agent-context.ts';
import { type Duty, settled } from '../duty.ts';
import { electedOutcome, electionNote, eventLine } from '../elected-duty.ts';
import { knownInventory } from '../known-inventory.ts';

export const poolRolloutDuty: Duty = {
  name: 'pool-rollout',
  roles: ['master'],
  needs: ['control-plane', 'cluster-view'],
  run: async (agent) => {
    if (!isBootstrapOver(agent.cluster.configMaps, agent.host.clock.now()))
      return settled('begins after the bootstrap');
    const task = agent.background.keep('pool-rollout', (signal, setNote) => lead(agent, signal, setNote));
    return electedOutcome('pool-rollout', task);
  },
};

async function lead(agent: Agent, signal: AbortSignal, setNote: (note: string) => void): Promise<void> {
  const { host, identity, log } = agent;
  const client = await agent.api();
  const onEvent = electionNote(setNote);
  const election = { client, host, namespace: systemNamespace, name: rolloutLease, identity, signal, onEvent };
  await leadWhile(election, async (leadership) => {
    // Schemas and tables of machine configuration take memory: only the agent that leads loads them.
    const { runRollout } = await import('../../pool-rollout/run-rollout.ts');
    await runRollout({
      client,
      host,
      generatedBy: 'firstlight pool controller',
      mastersMissing: await openMastersView(agent),
      signal: leadership.signal,
      mayAct: () => leadership.mayAct(),
      onEvent: (event) => log(`pool-rollout: ${eventLine(event)}`),
    });
  });
}

/** Asks every master's API and every member of etcd, each time anew: what they said before a reboot counts nothing. */
async function openMastersView(agent: Agent): Promise<(except: string) => Promise<readonly Missing[]>> {
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
