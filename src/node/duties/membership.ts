// Maintains the members of etcd once the bootstrap machine is gone: adds new masters, and replaces members that died or
// lost their data, as long as the others are a majority. One master at a time does this, under a Lease.
import { waitingFor } from '../../contract/missing.ts';
import { bundleFile } from '../../control-plane/control-plane-paths.ts';
import { lookAfterMembers } from '../../membership/look-after-members.ts';
import { type Agent, controlPlaneOf } from '../agent-context.ts';
import { readEtcdTls } from '../api-identity.ts';
import { type Duty, waiting } from '../duty.ts';
import { electedOutcome, electionNote, eventLine } from '../elected-duty.ts';
import { knownInventory } from '../known-inventory.ts';

export const membershipDuty: Duty = {
  name: 'membership',
  roles: ['master'],
  needs: ['control-plane', 'cluster-view'],
  run: async (agent) => {
    const inventory = await knownInventory(agent.host, agent.cluster);
    if (inventory === undefined) return waiting(waitingFor('the inventory of machines that may join'));
    const task = agent.background.keep('membership', (signal, setNote) => lookAfter(agent, signal, setNote));
    return electedOutcome('membership', task);
  },
};

async function lookAfter(agent: Agent, signal: AbortSignal, setNote: (note: string) => void): Promise<void> {
  const { host, identity, log } = agent;
  await lookAfterMembers({
    host,
    client: await agent.api(),
    tls: () => readEtcdTls(host),
    apiCaPem: await host.files.readText(bundleFile('apiserver-ca')),
    inventory: () => knownInventory(host, agent.cluster),
    maxLearners: controlPlaneOf(agent).masters,
    identity,
    signal,
    emit: (event) => log(`etcd: ${eventLine(event)}`),
    onElection: electionNote(setNote),
  });
}
