// The pool controller of machine configuration. One master at a time runs it, under a Lease; it gives the Lease back
// when its machine goes down, so that another goes on with the roll-out. It waits for the end of the bootstrap: until
// then machines get what the bootstrap machine rendered, and nothing moves.
import { isBootstrapOver } from '../../contract/bootstrap-progress.ts';
import { rolloutLease, systemNamespace } from '../../contract/cluster-objects.ts';
import { leadWhile } from '../../kubernetes/lease.ts';
import type { Agent } from '../agent-context.ts';
import { type Duty, settled } from '../duty.ts';
import { electedOutcome, electionNote, eventLine } from '../elected-duty.ts';
import { openMastersView } from '../masters-view.ts';

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
