// Lets machines in after the bootstrap machine is gone: one master at a time, under a Lease; the others stand by.
import { admitNodes } from '../../admission/admit-nodes.ts';
import { leadWhile } from '../../kubernetes/lease.ts';
import { type Agent, controlPlaneOf } from '../agent-context.ts';
import { knownInventory } from '../known-inventory.ts';
import { type Duty, settled, waiting } from '../duty.ts';
import { electionNote } from '../election-note.ts';
import { eventLine } from '../event-line.ts';
import { approverLease, systemNamespace } from '../../contract/cluster-objects.ts';
import { waitingFor } from '../../contract/missing.ts';

export const approverDuty: Duty = {
  name: 'approver',
  why: 'A kubelet gets a certificate only if somebody looked at its request; that somebody must not be a single machine.',
  roles: ['master'],
  needs: ['control-plane', 'cluster-view'],
  run: async (agent) => {
    const inventory = await knownInventory(agent.host, agent.cluster);
    if (inventory === undefined) return waiting(waitingFor('the inventory of machines that may join'));
    const { note, lastFailure } = agent.background.keep('approver', (signal, say) => approve(agent, signal, say));
    return note === undefined
      ? waiting(waitingFor(lastFailure ?? 'its Lease', '', { key: 'the Lease of the approver' }))
      : settled(note);
  },
};

async function approve(agent: Agent, signal: AbortSignal, say: (note: string) => void): Promise<void> {
  const { host, identity, log } = agent;
  const client = await agent.api();
  const onEvent = electionNote(say);
  const election = { client, host, namespace: systemNamespace, name: approverLease, identity, signal, onEvent };
  await leadWhile(election, (leadership) =>
    admitNodes({
      client,
      host,
      virtualAddresses: controlPlaneOf(agent).apiVips,
      // Nobody is let in while it is unknown who may be.
      inventory: async () => (await knownInventory(host, agent.cluster)) ?? { isClosed: true, machines: [] },
      signal: leadership.signal,
      mayAct: () => leadership.mayAct(),
      onEvent: (event) => log(`approver: ${eventLine(event)}`),
    }),
  );
}
