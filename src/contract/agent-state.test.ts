import { expect, test } from 'vitest';
import { fakeAgent } from '../../test/sim/agent-fixture.ts';
import { agentState, agentStateFile, agentStateSchema, StateWriter } from './agent-state.ts';
import { acted, settled, waiting } from '../node/duty.ts';
import { waitingFor } from './missing.ts';

test('the newest state is on the disk, readable by everybody, and says what each duty waits for', async () => {
  const { host, node } = fakeAgent();
  await host.files.makeFolder('/var/lib/firstlight');
  const since = host.clock.now();
  const writer = new StateWriter(host.files);
  const state = (outcome: ReturnType<typeof settled>) =>
    agentState({ node, pid: 7, now: since, reports: [{ duty: 'keys', outcome, since }] });
  for (const outcome of [waiting(waitingFor('the keys')), acted('received the signers'), settled()])
    writer.put(state(outcome));
  await writer.idle();
  const read = agentStateSchema.parse(JSON.parse(await host.files.readText(agentStateFile)));
  expect(read).toMatchObject({ node: 'master-1', isSettled: true, duties: [{ name: 'keys', status: 'settled' }] });
  expect(state(waiting(waitingFor('the keys'))).duties[0]).toMatchObject({
    status: 'waiting',
    missing: [{ who: 'the keys' }],
  });
  expect((await host.files.facts(agentStateFile))?.mode).toBe(0o644);
});
