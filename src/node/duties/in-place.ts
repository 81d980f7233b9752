// The controller of in-place attempts. One master at a time runs it, under a Lease of its own; it gives the Lease back
// when its machine goes down, also for an attempt on that very master, so that another goes on.
import { isBootstrapOver } from '../../contract/bootstrap-progress.ts';
import { inPlaceLease, systemNamespace } from '../../contract/cluster-objects.ts';
import { leadWhile } from '../../kubernetes/lease.ts';
import { type Agent, controlPlaneOf } from '../agent-context.ts';
import { type Duty, settled } from '../duty.ts';
import { electedOutcome, electionNote, eventLine } from '../elected-duty.ts';
import { openMastersView } from '../masters-view.ts';

export const inPlaceDuty: Duty = {
  name: 'in-place',
  roles: ['master'],
  needs: ['control-plane', 'cluster-view'],
  run: async (agent) => {
    if (!isBootstrapOver(agent.cluster.configMaps, agent.host.clock.now()))
      return settled('begins after the bootstrap');
    const task = agent.background.keep('in-place', (signal, setNote) => lead(agent, signal, setNote));
    return electedOutcome('in-place', task);
  },
};

async function lead(agent: Agent, signal: AbortSignal, setNote: (note: string) => void): Promise<void> {
  const { host, identity, log } = agent;
  const client = await agent.api();
  const onEvent = electionNote(setNote);
  const election = { client, host, namespace: systemNamespace, name: inPlaceLease, identity, signal, onEvent };
  await leadWhile(election, async (leadership) => {
    // Only the agent that leads loads it.
    const { runInPlaceController } = await import('../../in-place/controller/run-controller.ts');
    await runInPlaceController({
      client,
      host,
      clusterId: controlPlaneOf(agent).clusterId,
      mastersMissing: await openMastersView(agent),
      signal: leadership.signal,
      mayAct: () => leadership.mayAct(),
      onEvent: (event) => log(`in-place: ${eventLine(event)}`),
    });
  });
}
