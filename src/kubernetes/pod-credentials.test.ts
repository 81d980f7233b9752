import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import type { HttpRequest } from '../host/network.ts';
import { connectKubernetes } from './client.ts';
import { podCredentials } from './pod-credentials.ts';

const folder = '/var/run/secrets/kubernetes.io/serviceaccount';

test('a token that the kubelet has renewed is used by the next request', async () => {
  const asked: HttpRequest[] = [];
  const request = async (message: HttpRequest) => {
    asked.push(message);
    return { status: 200, headers: {}, body: Buffer.from('ok') };
  };
  const kept = { request, open: () => Promise.reject(new Error('no watches')), [Symbol.dispose]: () => {} };
  const host = fakeHost({ network: { keepConnections: () => kept } });
  await host.files.makeFolder(folder);
  await host.files.write(`${folder}/ca.crt`, 'authority');
  await host.files.write(`${folder}/token`, 'first\n');
  const variables = { KUBERNETES_SERVICE_HOST: 'api-int.demo.firstlight.test', KUBERNETES_SERVICE_PORT: '6443' };
  const source = podCredentials(variables, 'account');
  if (source === undefined) throw new Error('it is a pod');
  await using client = await connectKubernetes(host, source);
  await client.getRaw('/readyz');
  await host.files.write(`${folder}/token`, 'second\n');
  await client.getRaw('/readyz');
  expect(asked.map(({ headers }) => headers?.['authorization'])).toEqual(['Bearer first', 'Bearer second']);
  expect(asked.map(({ url, ca }) => [url, ca])).toEqual(
    Array(2).fill(['https://api-int.demo.firstlight.test:6443/readyz', 'authority']),
  );
});

test('outside of a pod there are no credentials; an IPv6 address gets its brackets', () => {
  expect(podCredentials({}, 'account')).toBeUndefined();
  const source = podCredentials({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }, 'account');
  expect(source).toMatchObject({ text: expect.stringContaining('https://[fd00::1]:443') });
});
