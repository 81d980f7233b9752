import { expect, test } from 'vitest';
import { hostErrors } from '../../host/errors.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { HttpRequest } from '../../host/network.ts';
import { dataUrl } from '../../ignition/data-url.ts';
import { insideFactsSchema } from './inside-facts.ts';
import { lookInside } from './look-inside.ts';

const asked = { names: ['api-int.demo.test'], balancer: '10.99.0.1', ports: [22_623], etcdPeers: [] };

test('a machine in its first boot tells all there is, without a token and without using one up', async () => {
  const requests: HttpRequest[] = [];
  const host = fakeHost({
    network: {
      resolve: async (name) => {
        throw hostErrors.NETWORK({ target: name, failure: 'dns', reason: 'the name does not resolve' });
      },
      probe: async () => {},
      request: async (request) => {
        requests.push(request);
        return { status: 511, headers: {}, body: new Uint8Array() };
      },
    },
  });
  await host.files.makeFolder('/etc/firstlight');
  await host.files.makeFolder('/var/lib/kubelet');
  await host.files.write('/etc/resolv.conf', 'nameserver 10.9.9.9\nsearch demo.test\n');
  const source = 'https://api-int.demo.test:22623/config/master';
  const httpHeaders = [{ name: 'Authorization', value: 'Bearer secret-token' }];
  const pointer = {
    ignition: {
      version: '3.2.0',
      config: { merge: [{ source, httpHeaders }] },
      security: { tls: { certificateAuthorities: [{ source: dataUrl('PEM') }] } },
    },
  };
  await host.files.write('/etc/firstlight/config.ign', JSON.stringify(pointer));

  const facts = await lookInside(host, asked);
  expect(insideFactsSchema.parse(JSON.parse(JSON.stringify(facts)))).toEqual(facts);
  expect(facts).toMatchObject({
    nameServers: ['10.9.9.9'],
    names: [{ name: 'api-int.demo.test', addresses: [], failure: 'dns' }],
    ports: [{ port: 22_623 }],
    pointer: { url: source, status: 511 },
    disks: [{ path: '/var/lib/kubelet' }],
    units: [],
  });
  expect(JSON.stringify(facts)).not.toContain('secret-token');
  expect(requests).toMatchObject([
    { method: 'HEAD', url: source, ca: 'PEM', connectTo: { host: '10.99.0.1', port: 22_623 } },
  ]);
  expect(requests[0]?.headers).toMatchObject({ Authorization: 'Bearer secret-token' });
  expect(await host.files.list('/var/lib/kubelet')).toEqual([]);
});

test('a name server that never answers holds nobody up', async () => {
  const host = fakeHost({ network: { resolve: () => new Promise(() => {}), probe: async () => {} } });
  const { names } = await lookInside(host, asked);
  expect(names).toEqual([
    { name: 'api-int.demo.test', addresses: [], failure: 'timeout', reason: 'the name server does not answer' },
  ]);
});

test('needed images are those of the static pods and of the sandbox; what containerd has not got is missing', async () => {
  const host = fakeHost({
    network: { resolve: async () => ['10.99.0.1'], probe: async () => {} },
    processes: {
      run: async (program) => {
        const stdout = program === 'ctr' ? 'r.test/pause:1\nr.test/etcd:2\n' : '';
        return { code: 0, signal: undefined, stdout, stderr: '', timedOut: false };
      },
    },
  });
  for (const folder of ['/etc/containerd', '/etc/kubernetes/manifests']) await host.files.makeFolder(folder);
  const containers = ['r.test/etcd:2', 'r.test/kubernetes:3'].map((image) => ({ name: 'x', image }));
  await host.files.write('/etc/kubernetes/manifests/pod.yaml', JSON.stringify({ spec: { containers } }));
  await host.files.write(
    '/etc/containerd/config.toml',
    "[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 'r.test/pause:1'\n",
  );
  const { images } = await lookInside(host, asked);
  expect(images).toEqual({
    needed: ['r.test/pause:1', 'r.test/etcd:2', 'r.test/kubernetes:3'],
    missing: ['r.test/kubernetes:3'],
  });
});
