// The bootstrapper against a real bus, real HTTPS servers and real signatures: the scenarios of its specification.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  configMap,
  configMapPath,
  json,
  makeWorld,
  mappings,
  openSuite,
  publish,
  type Suite,
  useApi,
  type World,
} from './torcx/node-world.ts';

let suite: Suite;
beforeAll(async () => {
  suite = await openSuite();
});
afterAll(() => suite[Symbol.asyncDispose]());

const calls = (): readonly (string | undefined)[] =>
  suite.bus.calls.map(({ call }) => call).filter((call) => call !== 'GetStatus');
const store = (osVersion: string, version: string): string =>
  `/var/lib/torcx/store/${osVersion}/docker:${version}.torcx.tgz`;
const sha512 = (content: string): string => createHash('sha512').update(content).digest('hex');
const profileOf = (version: string): string =>
  `{"kind":"profile-manifest-v0","value":{"images":[{"name":"docker","reference":"${version}"}]}}`;
const updated = (version: string) => [
  { operation: 'CHECKING_FOR_UPDATE' },
  { operation: 'UPDATE_AVAILABLE', version },
  ...[0.1, 0.5, 0.9].map((progress) => ({ operation: 'DOWNLOADING', version, progress })),
  { operation: 'FINALIZING', version },
  { operation: 'UPDATED_NEED_REBOOT', version },
];
/** Nothing of a run is left on the node. */
function expectUntouched(world: World): void {
  expect(world.has('/etc/kubernetes/kubelet.env')).toBe(false);
  expect(world.tree('/var/lib/torcx')).toEqual([]);
  expect(world.tree('/etc/torcx')).toEqual([]);
  expect(calls()).not.toContain('StartUnit');
}

describe('from scratch, while no API server answers', () => {
  test('every source falls back to the installer’s file and the node is prepared and rebooted', async () => {
    using world = await makeWorld(suite);
    useApi(suite, world, 'https://127.0.0.1:1');
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'seventeen' }]);
    const { exit, err, out } = await world.bootstrap('-o', 'json');
    expect({ exit, err }).toMatchObject({ exit: 0 });
    expect(err).toMatch(/\/version: .*connection refused \(3 tries\); the local file decides/);
    expect(err).toMatch(/ConfigMap tectonic-system.*connection refused \(3 tries\); the local file decides/);
    expect(suite.bucket.paths()).toEqual([
      '/manifests/amd64-usr/1520.5.0/torcx_manifest.json',
      '/manifests/amd64-usr/1520.5.0/torcx_manifest.json.asc',
      '/images/docker:17.03.torcx.tgz',
    ]);
    expect(sha512(world.read(store('1520.5.0', '17.03')))).toBe(sha512('seventeen'));
    expect(world.read('/etc/torcx/profiles/tectonic.json')).toBe(profileOf('17.03'));
    expect(world.read('/etc/torcx/next-profile').trim()).toBe('tectonic');
    expect(world.read('/etc/kubernetes/kubelet.env')).toBe(
      'KUBELET_IMAGE_URL=quay.io/coreos/hyperkube\nKUBELET_IMAGE_TAG=v1.8.4_coreos.0\n',
    );
    expect(calls()).toEqual(['AttemptUpdate', 'EnableUnitFiles', 'Reload', 'StartUnit']);
    expect(suite.bus.calls.at(-1)?.args).toEqual(['reboot.target', 'isolate']);
    expect(JSON.parse(out)).toMatchObject({ status: 'rebooting' });
  });

  test('a server that resets gets exactly three requests per question; one that hangs does not hold the node up', async () => {
    using world = await makeWorld(suite);
    useApi(suite, world);
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'seventeen' }]);
    suite.api.replies.set('/version', [{ fault: 'reset' }]).set(configMapPath, [{ fault: 'hang' }]);
    expect(await world.bootstrap('--api-timeout=0.3')).toMatchObject({ exit: 0 });
    expect(suite.api.paths().filter((path) => path === '/version')).toHaveLength(3);
    expect(suite.api.paths().filter((path) => path === configMapPath)).toHaveLength(3);
  });
});

describe('joining a cluster', () => {
  test('the cluster’s version and mappings win over the local ones, asked with the node’s certificate', async () => {
    using world = await makeWorld(suite);
    useApi(suite, world);
    suite.api.replies
      .set('/version', [{ body: '{"gitVersion":"v1.9.7+coreos.0"}', headers: json }])
      .set(configMapPath, [{ body: configMap(mappings({ '1.9': ['1.12'] })), headers: json }]);
    publish(suite, '1520.5.0', [
      { version: '17.03', image: 'a' },
      { version: '1.12', image: 'b' },
    ]);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    expect(world.read('/etc/torcx/profiles/tectonic.json')).toBe(profileOf('1.12'));
    expect(world.read('/etc/kubernetes/kubelet.env')).toBe(
      'KUBELET_IMAGE_URL=quay.io/coreos/hyperkube\nKUBELET_IMAGE_TAG=v1.9.7_coreos.0\n',
    );
    expect(suite.api.requests.map(({ peer }) => peer)).toEqual(['kubelet', 'kubelet']);
  });

  const version = { body: '{"gitVersion":"v1.8.9"}', headers: json };
  const good = { body: configMap(mappings({ '1.8': ['1.12'] })), headers: json };
  test.each([
    ['/version without gitVersion', { body: '{}', headers: json }, good, 'v1.8.4_coreos.0', 1],
    ['/version that is no version', { body: '{"gitVersion":"x y"}', headers: json }, good, 'v1.8.4_coreos.0', 1],
    ['a ConfigMap of the wrong kind', version, { body: configMap('kind: Other\n'), headers: json }, 'v1.8.9', 1],
    [
      'a ConfigMap without our minor',
      version,
      { body: configMap(mappings({ '1.6': ['1.12'] })), headers: json },
      'v1.8.9',
      1,
    ],
    ['a ConfigMap that is no YAML', version, { body: configMap('a: [b'), headers: json }, 'v1.8.9', 1],
    ['a forbidden ConfigMap', version, { status: 403, body: '{}', headers: json }, 'v1.8.9', 1],
    ['an overloaded API server', version, { status: 503, body: '{}', headers: json }, 'v1.8.9', 3],
  ])('%s is answered from the local file', async (_case, versionReply, mapReply, tag, mapRequests) => {
    using world = await makeWorld(suite);
    useApi(suite, world);
    suite.api.replies.set('/version', [versionReply]).set(configMapPath, [mapReply]);
    publish(suite, '1520.5.0', [
      { version: '17.03', image: 'a' },
      { version: '1.12', image: 'b' },
    ]);
    const { exit, err } = await world.bootstrap();
    expect(exit).toBe(0);
    expect(err).toMatch(/the local file decides/);
    expect(world.read('/etc/kubernetes/kubelet.env')).toContain(`KUBELET_IMAGE_TAG=${tag}\n`);
    expect(suite.api.paths().filter((path) => path === configMapPath)).toHaveLength(mapRequests);
    const wins = mapReply === good ? '1.12' : '17.03';
    expect(world.read('/etc/torcx/profiles/tectonic.json')).toBe(profileOf(wins));
  });

  test('mappings with the key 1.10 serve Kubernetes 1.10, not 1.1', async () => {
    using world = await makeWorld(suite);
    world.put('/etc/kubernetes/installer/runtime-mappings.yaml', mappings({ '1.1': ['0.1'], '1.10': ['17.03'] }));
    publish(suite, '1520.5.0', [
      { version: '17.03', image: 'a' },
      { version: '0.1', image: 'b' },
    ]);
    expect(await world.bootstrap('--force-kube-version=v1.10.2')).toMatchObject({ exit: 0 });
    expect(world.read('/etc/torcx/profiles/tectonic.json')).toBe(profileOf('17.03'));
  });
});

describe('with an OS update', () => {
  test('both stores are filled from one download, and kubelet.env is there when the reboot is asked for', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ onAttempt: updated('1576.4.0'), watch: `${world.root}/etc/kubernetes/kubelet.env` });
    for (const os of ['1520.5.0', '1576.4.0']) publish(suite, os, [{ version: '17.03', image: 'same' }]);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    expect(calls().filter((call) => call === 'AttemptUpdate')).toHaveLength(1);
    expect(world.tree('/var/lib/torcx/store')).toEqual([
      '1520.5.0/docker:17.03.torcx.tgz',
      '1576.4.0/docker:17.03.torcx.tgz',
    ]);
    expect(suite.bucket.paths().filter((path) => path.startsWith('/images/'))).toHaveLength(1);
    expect(suite.bus.calls.at(-1)).toMatchObject({ call: 'StartUnit', watched: true });
  });

  test('the next OS decides, even where the running one has only another version', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ onAttempt: updated('1576.4.0') });
    publish(suite, '1520.5.0', [{ version: '1.12', image: 'old' }]);
    publish(suite, '1576.4.0', [{ version: '17.03', image: 'new' }]);
    const { exit, err } = await world.bootstrap();
    expect(exit).toBe(0);
    expect(err).toMatch(/does not offer 17\.03: a rollback would boot without it/);
    expect(world.tree('/var/lib/torcx/store')).toEqual(['1576.4.0/docker:17.03.torcx.tgz']);
    expect(world.read('/etc/torcx/profiles/tectonic.json')).toBe(profileOf('17.03'));
  });

  test('a list that is missing for the running OS leaves that OS out, with a warning', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ onAttempt: updated('1576.4.0') });
    publish(suite, '1576.4.0', [{ version: '17.03', image: 'new' }]);
    const { exit, err } = await world.bootstrap();
    expect({ exit, err }).toMatchObject({ exit: 0, err: expect.stringMatching(/1520\.5\.0 is left out/) as string });
  });

  test('a failed update is told apart from none and the running OS is prepared', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ onAttempt: [{ operation: 'REPORTING_ERROR_EVENT' }, { operation: 'IDLE' }] });
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'x' }]);
    const { exit, err } = await world.bootstrap();
    expect({ exit, err }).toMatchObject({ exit: 0, err: expect.stringMatching(/the update failed/) as string });
  });

  test('an update that never gets ready ends at the deadline', async () => {
    using world = await makeWorld(suite);
    await suite.bus.become({ onAttempt: [{ operation: 'DOWNLOADING', version: '1576.4.0', progress: 0.2 }] });
    const { exit, err } = await world.bootstrap('--update-deadline=0.4');
    expect(exit).not.toBe(0);
    expect(err).toMatch(/downloading 1576\.4\.0, 20 %/);
    expectUntouched(world);
  });
});

describe('what is already there', () => {
  test('an image of the vendor’s store is neither downloaded nor copied', async () => {
    using world = await makeWorld(suite);
    const path = '/usr/share/torcx/store/docker:17.03.torcx.tgz';
    world.put(path, 'shipped');
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'shipped', paths: [path] }]);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    expect(suite.bucket.paths().filter((request) => request.startsWith('/images/'))).toEqual([]);
    expect(world.tree('/var/lib/torcx')).toEqual(['accepted-lists.json']);
    expect(world.read('/etc/torcx/profiles/tectonic.json')).toBe(profileOf('17.03'));
  });

  test('a vendor path that is not there falls back to the URLs; a path elsewhere does not count', async () => {
    using world = await makeWorld(suite);
    const paths = ['/home/core/docker.tgz', '/usr/share/torcx/store/docker:17.03.torcx.tgz'];
    const urls = [`${suite.bucket.url}/nowhere`, `${suite.bucket.url}/images/docker:17.03.torcx.tgz`];
    world.put('/home/core/docker.tgz', 'x');
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'x', paths, urls }]);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    expect(suite.bucket.paths().slice(2)).toEqual(['/nowhere', '/images/docker:17.03.torcx.tgz']);
    expect(world.read(store('1520.5.0', '17.03'))).toBe('x');
  });

  test('a damaged archive under the right name is replaced; a good one elsewhere on the node is copied', async () => {
    using world = await makeWorld(suite);
    world.put(store('1520.5.0', '17.03'), 'damag');
    world.put(store('1465.8.0', '17.03'), 'good');
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'good' }]);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    expect(world.read(store('1520.5.0', '17.03'))).toBe('good');
    expect(world.read(store('1465.8.0', '17.03'))).toBe('good');
    expect(suite.bucket.paths().filter((path) => path.startsWith('/images/'))).toEqual([]);
  });

  test('docker that runs already needs no reboot and keeps its data; other images of the profile stay', async () => {
    using world = await makeWorld(suite);
    world.put(
      '/run/torcx/profile.json',
      '{"kind":"profile-manifest-v0","value":{"images":[{"name":"docker","reference":"com.coreos.cl"}]}}',
    );
    world.put('/usr/share/torcx/store/docker:17.03.torcx.tgz', 'shipped');
    const { symlinkSync } = await import('node:fs');
    symlinkSync('docker:17.03.torcx.tgz', `${world.root}/usr/share/torcx/store/docker:com.coreos.cl.torcx.tgz`);
    world.put(
      '/etc/torcx/profiles/mine.json',
      '{"kind":"profile-manifest-v1","value":{"images":[{"name":"rkt","reference":"1","remote":"r"},{"name":"docker","reference":"1.12"}]}}',
    );
    world.put('/etc/torcx/next-profile', 'mine');
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'shipped' }]);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    expect(calls()).toEqual(['AttemptUpdate']);
    expect(world.read('/etc/torcx/profiles/mine.json')).toBe(
      '{"kind":"profile-manifest-v1","value":{"images":[{"name":"rkt","reference":"1","remote":"r"},{"name":"docker","reference":"17.03","remote":""}]}}',
    );
    expect(world.tree('/run/systemd')).toEqual([]);
  });

  test('a second run changes nothing and reboots nobody', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'x' }]);
    await world.bootstrap();
    world.put('/run/torcx/profile.json', profileOf('17.03'));
    suite.bucket.requests.length = 0;
    await suite.bus.become({});
    const { exit, out } = await world.bootstrap('-o', 'json');
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: 'done', actions: [{ kind: 'write-kubelet-env' }] });
    expect(suite.bucket.paths()).toHaveLength(2);
    expect(calls()).toEqual(['AttemptUpdate']);
    expect(world.tree('/run/firstlight')).toEqual(['torcx.lock']);
  });
});

describe('a bucket that must not be believed', () => {
  test('an image with other bytes fails the node and leaves nothing', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'right' }]);
    suite.bucket.replies.set('/images/docker:17.03.torcx.tgz', [{ body: 'wrong' }]);
    const { exit, err } = await world.bootstrap();
    expect(exit).toBe(1);
    expect(err).toMatch(/its sha512 is not the one of the package list/);
    expectUntouched(world);
  });

  test.each([
    ['altered by one byte', (list: string) => suite.gnupg.sign(suite.key, list.replace('17.03', '17.04'))],
    [
      'signed by an unknown key',
      (list: string) => suite.gnupg.sign(suite.gnupg.makeKey(`stranger${Date.now()}`), list),
    ],
    ['with garbage for a signature', () => 'no signature at all'],
  ])('a list %s is refused before any image is asked for', async (_case, sign) => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'x' }], { sign });
    expect(await world.bootstrap()).toMatchObject({
      exit: 1,
      err: expect.stringContaining('TORCX_SIGNATURE') as string,
    });
    expect(suite.bucket.paths().filter((path) => path.startsWith('/images/'))).toEqual([]);
    expectUntouched(world);
  });

  test('a missing signature is final after one request', async () => {
    using world = await makeWorld(suite);
    const path = publish(suite, '1520.5.0', [{ version: '17.03', image: 'x' }]);
    suite.bucket.replies.delete(`${path}.asc`);
    expect(await world.bootstrap()).toMatchObject({ exit: 1 });
    expect(suite.bucket.paths()).toEqual([path, `${path}.asc`]);
    expectUntouched(world);
  });

  test.each(['--no-verify-signatures', '--no-verify-signatures=T'])(
    '%s accepts it and never asks for the signature',
    async (flag) => {
      using world = await makeWorld(suite);
      const path = publish(suite, '1520.5.0', [{ version: '17.03', image: 'x' }], { sign: () => 'nothing' });
      expect(await world.bootstrap(flag)).toMatchObject({ exit: 0 });
      expect(suite.bucket.paths()).not.toContain(`${path}.asc`);
    },
  );

  test('a key that expired after it signed is refused, and with leave accepted with a warning', async () => {
    using world = await makeWorld(suite);
    const old = suite.gnupg.makeKey('expired', { at: '20180101T000000', life: '1y' });
    world.put('/pubring.gpg', suite.gnupg.exportArmored(old));
    const sign = (list: string): string => suite.gnupg.sign(old, list, ['--faked-system-time', '20180601T000000!']);
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'x' }], { sign });
    for (const flags of [[], ['--strict-key-expiry']])
      expect(await world.bootstrap(...flags)).toMatchObject({ exit: 1 });
    expectUntouched(world);
    const { exit, err } = await world.bootstrap('--strict-key-expiry=false');
    expect({ exit, err }).toMatchObject({
      exit: 0,
      err: expect.stringMatching(/expired on 2019-01-01, after it signed/) as string,
    });
  });
});

describe('a bucket that stumbles', () => {
  test('resets, 503, stalls and cut bodies are tried again', async () => {
    using world = await makeWorld(suite);
    const path = publish(suite, '1520.5.0', [{ version: '17.03', image: 'x'.repeat(100_000) }]);
    const image = '/images/docker:17.03.torcx.tgz';
    const [list, whole] = [suite.bucket.replies.get(path)![0]!, suite.bucket.replies.get(image)![0]!];
    const body = 'x'.repeat(100_000);
    suite.bucket.replies
      .set(path, [{ fault: 'reset' }, { fault: 'reset' }, { status: 503, body: '' }, list])
      .set(image, [{ fault: 'truncate', body }, { fault: 'stall', body }, whole]);
    expect(await world.bootstrap('--bucket-timeout=0.5')).toMatchObject({ exit: 0 });
    expect(suite.bucket.paths().filter((request) => request === path)).toHaveLength(4);
    expect(suite.bucket.paths().filter((request) => request === image)).toHaveLength(3);
    expect(world.tree('/var/lib/torcx/store')).toEqual(['1520.5.0/docker:17.03.torcx.tgz']);
  });

  test('404 is final: one request, no node', async () => {
    using world = await makeWorld(suite);
    expect(await world.bootstrap()).toMatchObject({ exit: 1, err: expect.stringContaining('HTTP 404') as string });
    expect(suite.bucket.paths()).toHaveLength(1);
    expectUntouched(world);
  });

  test('redirects are followed, but not away from https', async () => {
    using world = await makeWorld(suite);
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'x' }]);
    const image = '/images/docker:17.03.torcx.tgz';
    suite.bucket.replies.set('/moved', suite.bucket.replies.get(image)!);
    suite.bucket.replies.set(image, [{ status: 302, body: '', headers: { location: '/moved' } }]);
    expect(await world.bootstrap()).toMatchObject({ exit: 0 });
    using second = await makeWorld(suite);
    publish(suite, '1520.5.0', [{ version: '17.03', image: 'x' }]);
    suite.bucket.replies.set(image, [{ status: 302, body: '', headers: { location: 'http://127.0.0.1:1/x' } }]);
    expect(await second.bootstrap()).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/redirects from https/) as string,
    });
  });
});
