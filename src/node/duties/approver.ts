// Approves the certificate requests of machines that join after the bootstrap machine is gone. One master at a time
// approves, under a Lease; when it fails, another master takes over.
import { admitNodes } from '../../admission/admit-nodes.ts';
import { approverLease, systemNamespace } from '../../contract/cluster-objects.ts';
import { waitingFor } from '../../contract/missing.ts';
import { leadWhile } from '../../kubernetes/lease.ts';
import { type Agent, controlPlaneOf } from '../agent-context.ts';
import { type Duty, waiting } from '../duty.ts';
import { electedOutcome, electionNote, eventLine } from '../elected-duty.ts';
import { knownInventory } from '../known-inventory.ts';

export const approverDuty: Duty = {
  name: 'approver',
  roles: ['master'],
  needs: ['control-plane', 'cluster-view'],
  run: async (agent) => {
    const inventory = await knownInventory(agent.host, agent.cluster);
    if (inventory === undefined) return waiting(waitingFor('the inventory of machines that may join'));
    const task = agent.background.keep('approver', (signal, setNote) => approve(agent, signal, setNote));
    return electedOutcome('approver', task);
  },
};

async function approve(agent: Agent, signal: AbortSignal, setNote: (note: string) => void): Promise<void> {
  const { host, identity, log } = agent;
  const client = await agent.api();
  const onEvent = electionNote(setNote);
  const election = { client, host, namespace: systemNamespace, name: approverLease, identity, signal, onEvent };
  await leadWhile(election, (leadership) =>
    admitNodes({
      client,
      host,
      virtualAddresses: controlPlaneOf(agent).apiVips,
      machineNetworks: agent.machineNetworks,
      // While the inventory is unknown, no machine is admitted.
      inventory: async () => (await knownInventory(host, agent.cluster)) ?? { isClosed: true, machines: [] },
      signal: leadership.signal,
      mayAct: () => leadership.mayAct(),
      onEvent: (event) => log(`approver: ${eventLine(event)}`),
    }),
  );
}
