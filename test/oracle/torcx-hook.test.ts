// The before-reboot hook, and torcx's own operations: ours, and the same through a torcx program.
import { chmodSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json, makeWorld, mappings, openSuite, publish, type Suite, useApi, type World } from './torcx/node-world.ts';

let suite: Suite;
beforeAll(async () => {
  suite = await openSuite();
});
afterAll(() => suite[Symbol.asyncDispose]());

const one = [{ version: '17.03', image: 'x' }];
const annotation = '--node-annotation=x/ok';
const nodePath = '/api/v1/nodes/n1';
const kubeletEnv = 'KUBELET_IMAGE_URL=quay.io/coreos/hyperkube\nKUBELET_IMAGE_TAG=v1.8.4_coreos.0\n';

/** A node in the cluster with an OS update that waits for a reboot. */
async function nodeBeforeReboot(status = { operation: 'UPDATED_NEED_REBOOT', version: '1576.4.0' }): Promise<World> {
  const world = await makeWorld(suite);
  await suite.bus.become({ status });
  useApi(suite, world);
  suite.api.replies.set(nodePath, [{ body: '{}', headers: json }]);
  world.put('/etc/kubernetes/kubelet.env', kubeletEnv);
  world.put('/etc/runtime-mappings.yaml', mappings({ '1.8': ['17.03', '1.12'] }));
  for (const name of ['1465.8.0', '1520.5.0', 'xtra', '99999999999999999999.0.0']) {
    world.put(`/var/lib/torcx/store/${name}/other:1.torcx.tgz`, 'o');
  }
  for (const os of ['1520.5.0', '1576.4.0']) publish(suite, os, one);
  return world;
}

const asN1 = { variables: { NODE: 'n1' } };

describe('the hook', () => {
  test('prepares the next OS, clears older stores and annotates its own node', async () => {
    using world = await nodeBeforeReboot();
    suite.api.replies.set(nodePath, [
      { status: 409, body: '{}', headers: json },
      { body: '{}', headers: json },
    ]);
    const argv = ['torcx', 'hook-pre', ...world.args, annotation];
    expect(await world.run(argv, asN1)).toMatchObject({ exit: 0 });
    const patch = {
      method: 'PATCH',
      path: nodePath,
      body: '{"metadata":{"annotations":{"x/ok":"true"}}}',
      peer: 'kubelet',
    };
    expect(suite.api.requests).toEqual([patch, patch]);
    expect(world.has('/var/lib/torcx/store/1576.4.0/docker:17.03.torcx.tgz')).toBe(true);
    expect(world.tree('/var/lib/torcx/store').map((path) => path.split('/')[0])).toEqual([
      '1520.5.0',
      '1520.5.0',
      '1576.4.0',
      '99999999999999999999.0.0',
      'xtra',
    ]);
    expect(world.read('/etc/kubernetes/kubelet.env')).toBe(kubeletEnv);
    expect(suite.bus.calls.map(({ call }) => call)).toEqual(['GetStatus']);
    suite.bucket.requests.length = 0;
    const before = world.tree('/');
    expect(await world.run(argv, asN1)).toMatchObject({ exit: 0 });
    expect(suite.bucket.paths().filter((path) => path.startsWith('/images/'))).toEqual([]);
    expect(world.tree('/')).toEqual(before);
  });

  test('without a waiting update nothing is cleared and a warning is given; it can be required', async () => {
    using world = await nodeBeforeReboot({ operation: 'IDLE', version: '' });
    const { exit, err } = await world.hook(annotation, '--node-name=n1');
    expect({ exit, err }).toMatchObject({ exit: 0, err: expect.stringMatching(/no OS update is waiting/) as string });
    expect(world.has('/var/lib/torcx/store/1465.8.0')).toBe(true);
    suite.api.requests.length = 0;
    expect(await world.hook(annotation, '--node-name=n1', '--require-next-version')).toMatchObject({ exit: 1 });
    expect(suite.api.requests).toEqual([]);
  });

  test.each([
    ['the bucket fails', (world: World) => void world, () => suite.bucket.replies.clear()],
    [
      'the next version is unknown',
      () => {},
      () => suite.bus.become({ status: { operation: 'UPDATED_NEED_REBOOT', version: '0.0.0' } }),
    ],
    [
      'the list of the running OS is missing',
      () => {},
      () => suite.bucket.replies.delete('/manifests/amd64-usr/1520.5.0/torcx_manifest.json'),
    ],
    ['update_engine is absent', () => {}, () => suite.bus.become({ engine: 'absent' })],
  ])('where %s there is no annotation', async (_case, _touch, change) => {
    using world = await nodeBeforeReboot();
    await change();
    expect(await world.hook(annotation, '--node-name=n1')).toMatchObject({ exit: 1 });
    expect(suite.api.requests).toEqual([]);
  });

  test('a forbidden annotation is final, an unreachable server is asked five times', async () => {
    using world = await nodeBeforeReboot();
    suite.api.replies.set(nodePath, [{ status: 403, body: '{}', headers: json }]);
    expect(await world.hook(annotation, '--node-name=n1')).toMatchObject({ exit: 1 });
    expect(suite.api.requests).toHaveLength(1);
    suite.api.replies.set(nodePath, [{ fault: 'reset' }]);
    expect(await world.hook(annotation, '--node-name=n1')).toMatchObject({ exit: 1 });
    expect(suite.api.requests).toHaveLength(6);
  });

  test('an annotation needs a node name', async () => {
    using world = await nodeBeforeReboot();
    expect(await world.hook(annotation)).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/--node-name/) as string,
    });
  });
});

// FIRSTLIGHT_TORCX names a real torcx; without it a stand-in with the same command line takes its place.
const standIn = fileURLToPath(new URL('torcx/torcx-stand-in.sh', import.meta.url));
const program = process.env['FIRSTLIGHT_TORCX'] ?? standIn;

describe.each(['built-in', 'program'])('torcx, %s', (kind) => {
  async function prepared(): Promise<{ world: World; run: (...flags: string[]) => ReturnType<World['run']> }> {
    const world = await makeWorld(suite);
    publish(suite, '1520.5.0', one);
    const variables = {
      TORCX_BASEDIR: `${world.root}/var/lib/torcx`,
      TORCX_CONFDIR: `${world.root}/etc/torcx`,
      TORCX_RUNDIR: `${world.root}/run/torcx`,
    };
    const bin = kind === 'program' ? [`--torcx-bin=${program}`] : [];
    return {
      world,
      run: (...flags) => world.run(['torcx', 'bootstrap', ...world.args, ...bin, ...flags], { variables }),
    };
  }
  const first = '{"kind":"profile-manifest-v0","value":{"images":[{"name":"docker","reference":"17.03"}]}}';

  test('the first run makes the profile and sets it for the next boot', async () => {
    const { world, run } = await prepared();
    expect(await run()).toMatchObject({ exit: 0 });
    expect(world.read('/etc/torcx/profiles/tectonic.json').trim()).toBe(first);
    expect(world.read('/etc/torcx/next-profile')).toBe('tectonic\n');
    world[Symbol.dispose]();
  });

  test('the profile of the next boot is edited in place; its other images and its kind stay', async () => {
    const { world, run } = await prepared();
    const images = '[{"name":"docker","reference":"1.12","remote":"a"},{"name":"rkt","reference":"2","remote":"b"}]';
    world.put('/etc/torcx/profiles/mine.json', `{"kind":"profile-manifest-v1","value":{"images":${images}}}`);
    world.put('/etc/torcx/next-profile', 'mine\n');
    chmodSync(`${world.root}/etc/torcx/profiles/mine.json`, 0o640);
    expect(await run()).toMatchObject({ exit: 0 });
    expect(JSON.parse(world.read('/etc/torcx/profiles/mine.json'))).toEqual({
      kind: 'profile-manifest-v1',
      value: {
        images: [
          { name: 'docker', reference: '17.03', remote: '' },
          { name: 'rkt', reference: '2', remote: 'b' },
        ],
      },
    });
    expect(statSync(`${world.root}/etc/torcx/profiles/mine.json`).mode & 0o777).toBe(0o640);
    expect(world.has('/etc/torcx/profiles/tectonic.json')).toBe(false);
    world[Symbol.dispose]();
  });

  test('a next profile that does not exist counts as none; an archive that is there is found', async () => {
    const { world, run } = await prepared();
    world.put('/etc/torcx/next-profile', 'gone\n');
    world.put('/etc/torcx/profiles/tectonic.json', '');
    world.put('/var/lib/torcx/store/1520.5.0/docker:17.03.torcx.tgz', 'x');
    expect(await run()).toMatchObject({ exit: 0 });
    expect(suite.bucket.paths().filter((path) => path.startsWith('/images/'))).toEqual([]);
    expect(JSON.parse(world.read('/etc/torcx/profiles/tectonic.json'))).toMatchObject({ kind: 'profile-manifest-v1' });
    expect(world.read('/etc/torcx/next-profile')).toBe('tectonic\n');
    world[Symbol.dispose]();
  });
});

test('a torcx program that does not answer stops the run before anything is asked or changed', async () => {
  using world = await makeWorld(suite);
  for (const bin of ['/nonexistent/torcx', '/bin/false']) {
    expect(await world.bootstrap(`--torcx-bin=${bin}`)).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/torcx help/) as string,
    });
  }
  expect(suite.bus.calls).toEqual([]);
});
