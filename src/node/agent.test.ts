import { expect, test } from 'vitest';
import { fakeAgent } from '../../test/sim/agent-fixture.ts';
import { waitingFor } from '../contract/missing.ts';
import { agentState } from './agent.ts';
import { acted, settled, waiting } from './duty.ts';

test('the state of an agent says what each duty did or waits for', () => {
  const { host, node } = fakeAgent();
  const since = host.clock.now();
  const state = (outcome: ReturnType<typeof settled>) =>
    agentState({ node, pid: 7, now: since, reports: [{ duty: 'keys', outcome, since }] });
  expect(state(settled())).toMatchObject({ node: 'master-1', isSettled: true, duties: [{ status: 'settled' }] });
  expect(state(acted('received the signers')).duties[0]).toMatchObject({ note: 'received the signers', missing: [] });
  expect(state(waiting(waitingFor('the keys')))).toMatchObject({
    isSettled: false,
    duties: [{ name: 'keys', status: 'waiting', missing: [{ who: 'the keys' }] }],
  });
});
