import { expect, test } from 'vitest';
import { hostErrors } from '../../host/errors.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { fsyncPercentile, lookAtEtcd } from './look-at-etcd.ts';

const bucket = (bound: string, count: number): string =>
  `etcd_disk_wal_fsync_duration_seconds_bucket{le="${bound}"} ${count}`;

test('the slowest write in a hundred is at least as slow as the lower end of its bucket', () => {
  const metrics = (...counts: readonly number[]): string =>
    ['0.256', '0.512', '1.024', '+Inf'].map((bound, at) => bucket(bound, counts[at] ?? 0)).join('\n');
  expect(fsyncPercentile(metrics(100, 100, 100, 100))).toBe(0);
  expect(fsyncPercentile(metrics(97, 98, 100, 100))).toBe(512);
  expect(fsyncPercentile(metrics(0, 0, 0, 100))).toBe(1024);
  expect(fsyncPercentile(metrics(0, 0, 0, 0))).toBeUndefined();
  expect(fsyncPercentile('something else')).toBeUndefined();
});

test('a machine without a key of a client has no etcd to look at', async () => {
  expect(await lookAtEtcd(fakeHost(), ['10.99.0.12'])).toBeUndefined();
});

test('a member that does not run is no failure of the look, and both ports of every other machine are tried', async () => {
  const tried: string[] = [];
  const host = fakeHost({
    network: {
      probe: async (address, port) => {
        tried.push(`${address}:${port}`);
        if (address === '127.0.0.1' || port === 2380) {
          throw hostErrors.NETWORK({ target: address, failure: 'refused', reason: 'connection refused' });
        }
      },
    },
  });
  await host.files.makeFolder('/etc/kubernetes/pki');
  for (const name of ['etcd-ca.crt', 'etcd-membership-client.crt', 'etcd-membership-client.key']) {
    await host.files.write(`/etc/kubernetes/pki/${name}`, 'no certificate');
  }
  expect(await lookAtEtcd(host, ['10.99.0.12'])).toEqual({
    isListening: false,
    peers: [
      { address: '10.99.0.12', port: 2379 },
      { address: '10.99.0.12', port: 2380, failure: 'refused', reason: 'connection refused' },
    ],
  });
  expect(tried.toSorted()).toEqual(['10.99.0.12:2379', '10.99.0.12:2380', '127.0.0.1:2379']);
});
