// Which files of a containerd folder a new machine shares and which it has for itself. That containerd works with it is
// seen in test/e2e.
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { fillContainerdFolder } from './containerd-folder.ts';

const seedLayers = ['content/blobs/*', 'snapshots/*/fs'];

test('layers and blobs are links into the machine’s read-only view, everything else is a copy', async () => {
  const { files } = fakeHost();
  for (const [path, mode] of [
    ['/seed/content/blobs/aaa', 0o444],
    ['/seed/snapshots/1/fs/bin/sh', 0o755],
    ['/seed/meta.db', 0o600],
  ] as const) {
    await files.makeFolder(dirname(path));
    await files.write(path, `content of ${path}`, { mode });
  }
  await files.makeFolder('/seed/snapshots/1/work', { mode: 0o711 });
  await files.makeFolder('/seed/content/ingest');
  await files.makeFolder('/machine');
  const image = { rootFolder: '/root', coredns: '/coredns', digest: 'd', containerdSeed: '/seed', seedLayers };
  await fillContainerdFolder(files, image, '/machine');

  expect(await files.readLink('/machine/content/blobs/aaa')).toBe('/var/lib/containerd-layers/content/blobs/aaa');
  expect(await files.readLink('/machine/snapshots/1/fs')).toBe('/var/lib/containerd-layers/snapshots/1/fs');
  expect(await files.list('/machine/snapshots/1')).toEqual(['fs', 'work']);
  expect(await files.facts('/machine/snapshots/1/work')).toMatchObject({ kind: 'folder', mode: 0o711 });
  expect(await files.facts('/machine/content/ingest')).toMatchObject({ kind: 'folder' });
  expect(await files.readText('/machine/meta.db')).toBe('content of /seed/meta.db');
  expect(await files.facts('/machine/meta.db')).toMatchObject({ kind: 'file', mode: 0o600 });
});
