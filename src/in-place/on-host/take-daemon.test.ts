import { expect, test } from 'vitest';
import { attemptFiles, programLauncher } from '../../contract/in-place.ts';
import { firstlightFolder, kubeletPullSecret } from '../../contract/machine-paths.ts';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import { attemptId, settings } from './fake-attempt-machine.ts';
import { takeDaemon } from './take-daemon.ts';

const release = { releaseImage: 'r.test/release@sha256:1', daemonImage: 'r.test/firstlight@sha256:2' };
const { folder, program, daemon } = attemptFiles(attemptId);
const { signal } = new AbortController();

/** A containerd whose store has `images`; what it is asked is kept in `calls`. */
async function machine(images: string[], calls: string[]): Promise<FakeHost> {
  const host: FakeHost = fakeHost({
    environment: { architecture: 'x64' },
    processes: {
      run: async (name, args) => {
        const [verb = '', ...rest] = name === 'ctr' ? args.slice(3) : [name];
        calls.push(verb);
        const ended = { code: 0, stdout: '', stderr: '', signal: undefined, timedOut: false };
        if (verb === 'list') return { ...ended, stdout: images.join('\n') };
        if (verb === 'pull') {
          if (!rest.includes('me:secret')) return { ...ended, code: 1, stderr: 'ctr: 401 Unauthorized' };
          images.push(release.daemonImage);
        }
        if (verb === 'mount') await fill(host, rest.at(-1) ?? '');
        return ended;
      },
    },
  });
  await host.files.makeFolder(folder);
  return host;
}

async function fill({ files }: FakeHost, root: string): Promise<void> {
  for (const path of ['bin/node', 'dist/firstlight.mjs']) {
    const target = `${root}${firstlightFolder}/${path}`;
    await files.makeFolder(target.slice(0, target.lastIndexOf('/')));
    await files.write(target, path);
  }
}

test('the program that runs is used where it comes from the image that the configuration names', async () => {
  const calls: string[] = [];
  const host = await machine([], calls);
  const own = { ...settings, programImage: release.daemonImage };
  expect(await takeDaemon(host, own, { release, signal })).toBe(program);
  expect(await takeDaemon(host, settings, { release: undefined, signal })).toBe(program);
  expect(calls).toEqual([]);
});

test('another one is copied out of the store, and the image is unmounted', async () => {
  const calls: string[] = [];
  const host = await machine([release.daemonImage], calls);
  expect(await takeDaemon(host, settings, { release, signal })).toBe(daemon);
  expect(calls).toEqual(['list', 'unmount', 'mount', 'sync', 'unmount']);
  expect(await host.files.readText(`${daemon}/${programLauncher}`)).toContain(`'${daemon}/bin/node'`);
  // A second call finds it there.
  await takeDaemon(host, settings, { release, signal });
  expect(calls).toHaveLength(5);
});

test('an image that is not there is pulled with the credentials of the machine', async () => {
  const calls: string[] = [];
  const host = await machine([], calls);
  await expect(takeDaemon(host, settings, { release, signal })).rejects.toThrow(
    /the daemon of r\.test\/firstlight@sha256:2 could not be taken: .*401 Unauthorized/,
  );
  await host.files.makeFolder(kubeletPullSecret.slice(0, kubeletPullSecret.lastIndexOf('/')));
  const auth = Buffer.from('me:secret').toString('base64');
  await host.files.write(kubeletPullSecret, JSON.stringify({ auths: { 'r.test': { auth } } }));
  expect(await takeDaemon(host, settings, { release, signal })).toBe(daemon);
  expect(calls).toContain('pull');
});
