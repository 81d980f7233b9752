// Looks after the members of etcd once the bootstrap machine has let go: replaces members that lost their data or died,
// takes in masters that come anew. One master at a time, under a Lease.
import { bundleFile } from '../../control-plane/control-plane-paths.ts';
import { readEtcdTls } from '../api-identity.ts';
import { type Agent, controlPlaneOf } from '../agent-context.ts';
import { knownInventory } from '../known-inventory.ts';
import { type Duty, settled, waiting } from '../duty.ts';
import { electionNote } from '../election-note.ts';
import { eventLine } from '../event-line.ts';
import { lookAfterMembers } from '../../membership/look-after-members.ts';
import { waitingFor } from '../../contract/missing.ts';

export const membershipDuty: Duty = {
  name: 'membership',
  why: 'A member that is lost must be replaced while the others still are a majority, and by one hand only.',
  roles: ['master'],
  needs: ['control-plane', 'cluster-view'],
  run: async (agent) => {
    const inventory = await knownInventory(agent.host, agent.cluster);
    if (inventory === undefined) return waiting(waitingFor('the inventory of machines that may join'));
    const { note, lastFailure } = agent.background.keep('membership', (signal, say) => lookAfter(agent, signal, say));
    return note === undefined
      ? waiting(waitingFor(lastFailure ?? 'its Lease', '', { key: 'the Lease of the membership' }))
      : settled(note);
  },
};

async function lookAfter(agent: Agent, signal: AbortSignal, say: (note: string) => void): Promise<void> {
  const { host, identity, log } = agent;
  await lookAfterMembers({
    host,
    client: await agent.api(),
    tls: () => readEtcdTls(host, 'etcd-membership-client'),
    apiCaPem: await host.files.readText(bundleFile('apiserver-ca')),
    inventory: () => knownInventory(host, agent.cluster),
    maxLearners: controlPlaneOf(agent).masters,
    identity,
    signal,
    emit: (event) => log(`etcd: ${eventLine(event)}`),
    onElection: electionNote(say),
  });
}
