import { beforeEach, describe, expect, test } from 'vitest';
import {
  clusterId,
  type FakeAgent,
  fakeAgent,
  inventoryObject,
  member,
  putEtcdData,
  putRelease,
} from '../../../test/sim/agent-fixture.ts';
import { waitingFor } from '../../contract/missing.ts';
import { podWrittenKey } from '../../contract/timeline.ts';
import { hostErrors } from '../../host/errors.ts';
import { etcdMemberDuty } from './etcd-member.ts';

const path = '/etc/kubernetes/manifests/etcd-pod.yaml';
const bootstrap = member('etcd-bootstrap', { id: 'b0', address: '10.99.0.10' });
const own = (change: object = {}) => member('master-1', { id: 'a1', address: '10.99.0.12', ...change });
const announced = (id = 'a1') => member('', { id, address: '10.99.0.12', isLearner: true });

let agent: FakeAgent;
const podText = async (): Promise<string> =>
  Buffer.from((await agent.host.files.readIfPresent(path)) ?? new Uint8Array()).toString('utf8');
const data = (id = 'a1', cluster: string = clusterId): Promise<void> => putEtcdData(agent, { member: id, cluster });

/** What the fake host runs ends at once, as etcd does with a list that is not true any more. */
async function untilPodIsWritten(): Promise<void> {
  const failed = {
    status: 'waiting',
    missing: [expect.objectContaining({ who: 'etcd on master-1', what: 'to start', detail: expect.any(String) })],
  };
  for (let start = 1; start <= 2; start += 1) expect(await etcdMemberDuty.run(agent)).toEqual(failed);
  expect(await etcdMemberDuty.run(agent)).toEqual({
    status: 'acted',
    did: 'started etcd as a new member',
    key: podWrittenKey,
  });
}

beforeEach(async () => {
  agent = fakeAgent();
  await putRelease(agent);
  agent.cluster.put({ nodes: [], configMaps: [inventoryObject()] });
});

describe('the etcd pod of a master', () => {
  test('is not written before the members list this machine', async () => {
    for (const members of [undefined, [bootstrap]]) {
      agent.members = members;
      expect(await etcdMemberDuty.run(agent)).toMatchObject({ status: 'waiting' });
    }
    expect(await podText()).toBe('');
  });

  test('joins with exactly the listed peers by the names of the inventory, also those that have not started', async () => {
    const other = member('', { id: 'c2', address: '10.99.0.13', isLearner: true });
    agent.members = [bootstrap, announced(), other];
    await untilPodIsWritten();
    const text = await podText();
    const peers = [
      'etcd-bootstrap=https://10.99.0.10:2380',
      'master-1=https://10.99.0.12:2380',
      'master-2=https://10.99.0.13:2380',
    ];
    expect(text).toContain(`--initial-cluster=${peers.join(',')}`);
    expect(text).toContain('--initial-cluster-state=existing');
    expect(text).toContain('image: r/etcd@sha256:1');
    expect(await etcdMemberDuty.run(agent)).toEqual({
      status: 'waiting',
      missing: [waitingFor('etcd on master-1', 'to start')],
    });
  });

  test('is left as it is once the member has data, whatever the list looks like by then', async () => {
    agent.members = [bootstrap, announced()];
    await untilPodIsWritten();
    const before = await podText();
    await data();
    agent.members = [bootstrap, own({ isLearner: true })];
    expect(await etcdMemberDuty.run(agent)).toMatchObject({
      status: 'waiting',
      missing: [waitingFor('etcd on master-1', 'to be promoted to a voter')],
    });
    agent.members = [own()];
    expect(await etcdMemberDuty.run(agent)).toEqual({ status: 'settled', note: 'voter' });
    expect(await podText()).toBe(before);
  });

  test('comes back after a power cut although nobody answers', async () => {
    await data();
    expect(await etcdMemberDuty.run(agent)).toEqual({
      status: 'acted',
      did: 'started etcd with the data it has',
      key: podWrittenKey,
    });
    expect(await etcdMemberDuty.run(agent)).toMatchObject({
      status: 'waiting',
      missing: [waitingFor('a majority of etcd that answers')],
    });
  });

  test('is taken away when the data is lost: an empty member must not answer for what it promised', async () => {
    agent.members = [bootstrap, own()];
    await agent.host.files.write(path, 'a pod of before');
    expect(await etcdMemberDuty.run(agent)).toMatchObject({ status: 'acted' });
    expect(await podText()).toBe('');
    expect(await etcdMemberDuty.run(agent)).toMatchObject({ status: 'waiting' });
  });
});

describe('data of a member that was removed', () => {
  const probing = (isRunning: () => boolean) =>
    fakeAgent({
      network: {
        probe: async () => {
          if (!isRunning())
            throw hostErrors.NETWORK({ target: 'etcd', failure: 'refused', reason: 'connection refused' });
        },
      },
    });

  test('is moved aside when the machine was added anew, after its pod has gone and etcd has stopped', async () => {
    let isRunning = true;
    agent = probing(() => isRunning);
    await putRelease(agent);
    await data('a0');
    agent.members = [bootstrap, announced('a1')];
    await agent.host.files.write(path, 'a pod of before');
    expect(await etcdMemberDuty.run(agent)).toMatchObject({
      status: 'acted',
      did: expect.stringMatching(/^stopped etcd/),
    });
    expect(await etcdMemberDuty.run(agent)).toMatchObject({
      status: 'waiting',
      missing: [{ what: expect.stringContaining('to stop') }],
    });
    isRunning = false;
    expect(await etcdMemberDuty.run(agent)).toMatchObject({
      status: 'acted',
      did: expect.stringMatching(/^moved data/),
    });
    expect(await agent.host.files.list('/var/lib/etcd')).toEqual([expect.stringMatching(/^member-removed-archive-/)]);
    await untilPodIsWritten();
  });

  test('stays while the machine waits to be added again', async () => {
    await data('a0');
    agent.members = [bootstrap];
    expect(await etcdMemberDuty.run(agent)).toMatchObject({ status: 'waiting' });
    expect(await agent.host.files.list('/var/lib/etcd')).toEqual(['member']);
  });
});
