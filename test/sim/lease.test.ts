import { expect, test } from 'vitest';
import { fakeHost } from '../../src/host/fake/fake-host.ts';
import { leadWhile } from '../../src/kubernetes/lease.ts';
import { SimApi } from './sim-api.ts';

test('a holder that is stopped while it renews gives its Lease back all the same', async () => {
  const host = fakeHost();
  const api = new SimApi(host);
  const stop = new AbortController();
  let writes = 0;
  // The second write is the first renewal: it is made, and nobody waits for its answer.
  const client = await api.client(({ isWrite }) => {
    writes += isWrite ? 1 : 0;
    if (!isWrite || writes !== 2) return undefined;
    stop.abort(new Error('stopped'));
    return 'lose-answer';
  });
  const election = { client, host, namespace: 'kube-system', name: 'l', identity: 'a', signal: stop.signal };
  await expect(leadWhile(election, () => host.clock.sleep(60_000, stop.signal))).rejects.toThrow('stopped');
  const spec = api.find('leases', 'l', 'kube-system')?.['spec'];
  expect(spec).toMatchObject({ leaseDurationSeconds: 1 });
  expect(spec).not.toHaveProperty('holderIdentity');
});
