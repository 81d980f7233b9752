// A drain of a node whose kubelet does not end its pods. While the kubelet reports, it is waited for; of a silent one nothing
// can be waited for, and the pods end with the boot of their machine.
import { expect, test } from 'vitest';
import { fakeHost } from '../../src/host/fake/fake-host.ts';
import { drainNode } from '../../src/pool-rollout/drain-node.ts';
import { SimApi } from './sim-api.ts';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: { nodeName: 'w1' },
  status: { phase: 'Running' },
};

/** Whether the drain was over within an hour, and whether the pod was told to go. */
async function drainedWithin(isSilent: boolean) {
  const host = fakeHost({ seed: 'drain' });
  const api = new SimApi(host);
  api.endsEvictedPods = false;
  api.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'w1' } });
  api.put('pods', pod);
  await using client = await api.client();
  const hour = new AbortController();
  host.clock.after(3_600_000, () => hour.abort(new Error('an hour is over')));
  const isDrained = await drainNode({
    client,
    host,
    node: 'w1',
    answer: {},
    since: undefined,
    isOnlyNode: false,
    isSilent: () => isSilent,
    missing: async () => [],
    signal: hour.signal,
    mayAct: () => true,
    onTrouble: (error) => expect.fail(error.message),
  }).then(
    () => true,
    () => false,
  );
  const isTold = api.find('pods', 'web', 'default')?.metadata.deletionTimestamp !== undefined;
  return { isDrained, isTold };
}

test('waits for the end of a pod as long as the kubelet reports', async () => {
  expect(await drainedWithin(false)).toEqual({ isDrained: false, isTold: true });
});

test('tells the pods of a silent kubelet to go, and does not wait for their end', async () => {
  expect(await drainedWithin(true)).toEqual({ isDrained: true, isTold: true });
});
