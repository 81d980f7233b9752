import { expect, test } from 'vitest';
import { clusterId, fakeAgent, inventoryObject, member, putEtcdData } from '../../test/sim/agent-fixture.ts';
import { observeOwnMember } from './own-member.ts';

test('a member that starts while the list is on its way is not taken for one that lost its data', async () => {
  const agent = fakeAgent();
  agent.cluster.put({ nodes: [], configMaps: [inventoryObject()] });
  const { etcd } = agent;
  const starting = {
    ...agent,
    etcd: async () => {
      await putEtcdData(agent, { member: 'a1', cluster: clusterId });
      agent.members = [member('master-1', { id: 'a1', address: '10.99.0.12', isLearner: true })];
      return etcd();
    },
  };
  expect((await observeOwnMember(starting)).decision).toEqual({ kind: 'resume' });
});
