import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { type AgentState, agentStateFile, agentStateSchema, StateWriter } from './agent-state.ts';

test('the newest state is on the disk, readable by everybody', async () => {
  const host = fakeHost();
  await host.files.makeFolder('/var/lib/firstlight');
  const at = host.clock.now().toISOString();
  const writer = new StateWriter(host.files);
  const state = (status: 'waiting' | 'acted' | 'settled'): AgentState => ({
    format: 1,
    node: 'master-1',
    role: 'master',
    pid: 7,
    at,
    isSettled: status === 'settled',
    duties: [{ name: 'keys', status, since: at, missing: [] }],
  });
  for (const status of ['waiting', 'acted', 'settled'] as const) writer.put(state(status));
  await writer.idle();
  const read = agentStateSchema.parse(JSON.parse(await host.files.readText(agentStateFile)));
  expect(read).toMatchObject({ node: 'master-1', isSettled: true, duties: [{ name: 'keys', status: 'settled' }] });
  expect((await host.files.facts(agentStateFile))?.mode).toBe(0o644);
});
