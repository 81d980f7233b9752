import { describe, expect, test } from 'vitest';
import { Crash } from '../../host/fake/fake-files.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { Host } from '../../host/host.ts';
import { cacheFolder, type EntryId, openCache } from './cache.ts';

const id: EntryId = { kind: 'part', name: 'pause', inputs: { version: '1' } };
const content = async (host: Host, folder: string) => {
  await host.files.makeFolder(`${folder}/bin`);
  await host.files.write(`${folder}/bin/pause`, 'program', { mode: 0o755 });
  return { version: '1' };
};

describe('a cache entry', () => {
  test('is absent before and whole after', async () => {
    const host = fakeHost();
    const cache = openCache(host);
    expect(await cache.look(id)).toEqual({ status: 'absent' });
    const entry = await cache.fill(id, (folder) => content(host, folder));
    expect(await cache.look(id)).toEqual({ status: 'present', entry });
    expect(await cache.verify(entry)).toBeUndefined();
  });

  test('is another one when any input differs', async () => {
    const host = fakeHost();
    const cache = openCache(host);
    await cache.fill(id, (folder) => content(host, folder));
    expect(await cache.look({ ...id, inputs: { version: '2' } })).toEqual({ status: 'absent' });
  });

  test('that could not be made leaves nothing', async () => {
    const host = fakeHost();
    const { disk } = host;
    const cache = openCache(host);
    await expect(
      cache.fill(id, async (folder) => {
        await content(host, folder);
        throw new Error('compiler');
      }),
    ).rejects.toThrow('compiler');
    expect([...disk.nodes.keys()].filter((path) => path.includes('pause'))).toEqual([]);
  });

  test('that another living process is making survives a sweep; one of the dead does not', async () => {
    const host = fakeHost({ processes: { isAlive: (pid) => pid === 42 } });
    const cache = openCache(host);
    const tmp = `${cache.folder}/tmp`;
    for (const name of ['part-a-x.42', 'part-b-x.43']) await host.files.makeFolder(`${tmp}/${name}`);
    await cache.sweep();
    expect(await host.files.list(tmp)).toEqual(['part-a-x.42']);
  });

  test.each([
    [
      'a file that lost bytes',
      async (path: string, host: Host) => host.files.write(path, 'prog'),
      'bin/pause has 4 bytes, recorded were 7',
    ],
    ['a file that is gone', async (path: string, host: Host) => host.files.remove(path), 'bin/pause is missing'],
  ])('with %s is damaged, and says so', async (_, harm, reason) => {
    const host = fakeHost();
    const cache = openCache(host);
    const entry = await cache.fill(id, (folder) => content(host, folder));
    await harm(`${entry.content}/bin/pause`, host);
    expect(await cache.look(id)).toEqual({ status: 'damaged', reason });
    await cache.fill(id, (folder) => content(host, folder));
    expect(await cache.look(id)).toMatchObject({ status: 'present' });
  });

  test('with other bytes of the same length is found by hashing, and from then on by every look', async () => {
    const host = fakeHost();
    const cache = openCache(host);
    const entry = await cache.fill(id, (folder) => content(host, folder));
    await host.files.write(`${entry.content}/bin/pause`, 'PROGRAM', { mode: 0o755 });
    const reason = await cache.verify(entry);
    expect(reason).toContain('bin/pause has another content than recorded');
    await cache.markDamaged(entry, reason!);
    expect(await cache.look(id)).toEqual({ status: 'damaged', reason });
  });

  test('whose file and listing were changed together is still not believed', async () => {
    const host = fakeHost();
    const cache = openCache(host);
    const entry = await cache.fill(id, (folder) => content(host, folder));
    await host.files.write(`${entry.content}/bin/extra`, 'x');
    expect(await cache.verify(entry)).toBe('bin/extra was not there when it was built');
    await host.files.write(`${entry.content}/../listing.jsonl`, '');
    expect(await cache.verify(entry)).toBe('listing.jsonl was altered');
  });

  test('killed at any change is absent or whole for the next run, never in between', async () => {
    for (let crashAt = 1; ; crashAt += 1) {
      const host = fakeHost();
      const { disk } = host;
      disk.crashAt = crashAt;
      const failed = await openCache(host)
        .fill(id, (folder) => content(host, folder))
        .then(
          () => false,
          (error: unknown) => error instanceof Crash,
        );
      delete disk.crashAt;
      const cache = openCache(host);
      const seen = await cache.look(id);
      expect(seen.status, `crash at change ${crashAt}`).not.toBe('damaged');
      if (seen.status === 'present') expect(await cache.verify(seen.entry)).toBeUndefined();
      await cache.sweep();
      await cache.fill(id, (folder) => content(host, folder));
      expect(await cache.look(id)).toMatchObject({ status: 'present' });
      if (!failed) break;
    }
  });
});

test.each([
  [{ FIRSTLIGHT_CACHE: '/x', XDG_CACHE_HOME: '/xdg' }, '/x'],
  [{ FIRSTLIGHT_CACHE: 'x' }, '/work/x'],
  [{ XDG_CACHE_HOME: '/xdg' }, '/xdg/firstlight'],
  [{ XDG_CACHE_HOME: 'relative, so to be ignored' }, '/home/me/.cache/firstlight'],
  [{ FIRSTLIGHT_CACHE: '' }, '/home/me/.cache/firstlight'],
])('with %j the cache is in %s', (variables, folder) => {
  const { environment } = fakeHost();
  expect(cacheFolder({ ...environment, variables, homeFolder: '/home/me', workingFolder: '/work' })).toBe(folder);
});
