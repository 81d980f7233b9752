import { createHash } from 'node:crypto';
import { packTar } from 'modern-tar';
import { expect, test } from 'vitest';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import { readArchive } from './archive.ts';
import { registryErrors } from './errors.ts';

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

async function archiveOf(
  entries: readonly { readonly name: string; readonly body?: string; readonly linkTo?: string }[],
): Promise<FakeHost> {
  const host = fakeHost();
  const bytes = await packTar(
    entries.map(({ name, body = '', linkTo }) =>
      linkTo === undefined
        ? { header: { name, size: Buffer.byteLength(body), type: 'file' as const }, body }
        : { header: { name, size: 0, type: 'symlink' as const, linkname: linkTo } },
    ),
  );
  for (const folder of ['/in', '/scratch']) await host.files.makeFolder(folder);
  await host.files.write('/in/images.tar', bytes);
  return host;
}

const read = ({ files }: FakeHost) => readArchive(files, '/in/images.tar', '/scratch');
const refused = (reason: RegExp) =>
  expect.objectContaining({ code: registryErrors.ARCHIVE.code, message: expect.stringMatching(reason) });

test('what docker save writes gets a manifest of our making, with digests of what is in the files', async () => {
  const host = await archiveOf([
    {
      name: 'manifest.json',
      body: JSON.stringify([
        { Config: 'c.json', RepoTags: ['app:1', 'app:2'], Layers: ['a/layer.tar', 'b/layer.tar'] },
      ]),
    },
    { name: 'c.json', body: '{"os":"linux"}' },
    { name: 'a/layer.tar', body: 'layer a' },
    { name: 'b/layer.tar', linkTo: '../a/layer.tar' },
  ]);
  const [image, ...others] = await read(host);
  expect(others).toEqual([]);
  expect(image?.names).toEqual(['app:1', 'app:2']);
  expect(image?.blobs.map(({ digest }) => digest)).toEqual([
    sha256('{"os":"linux"}'),
    sha256('layer a'),
    sha256('layer a'),
  ]);
  expect(image?.root.digest).toBe(sha256(image?.root.text ?? ''));
  expect(JSON.parse(image?.root.text ?? '')).toMatchObject({
    schemaVersion: 2,
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', size: 7 }, { size: 7 }],
  });
});

function layout(named: Readonly<Record<string, string>>): { readonly name: string; readonly body: string }[] {
  const type = 'application/vnd.oci.image.manifest.v1+json';
  const [config, layer] = ['{"os":"linux"}', 'a layer'];
  const about = (mediaType: string, text: string) => ({ mediaType, digest: sha256(text), size: text.length });
  const manifest = JSON.stringify({
    config: about('application/vnd.oci.image.config.v1+json', config),
    layers: [about('x', layer)],
  });
  const index = JSON.stringify({ manifests: [{ ...about(type, manifest), annotations: named }] });
  const blob = (text: string) => ({ name: `blobs/sha256/${sha256(text).slice(7)}`, body: text });
  return [{ name: 'index.json', body: index }, blob(manifest), blob(config), blob(layer)];
}

test('an OCI layout keeps its manifest, byte by byte', async () => {
  const host = await archiveOf(layout({ 'io.containerd.image.name': 'elsewhere.test/app:7' }));
  const [image] = await read(host);
  expect(image?.names).toEqual(['elsewhere.test/app:7']);
  expect(sha256(image?.root.text ?? '')).toBe(image?.root.digest);
  expect(image?.blobs).toHaveLength(2);
});

test('a reference that is only a tag is no name', async () => {
  const [image] = await read(await archiveOf(layout({ 'org.opencontainers.image.ref.name': 'latest' })));
  expect(image?.names).toEqual([]);
});

test('a blob with another content than its digest says is refused', async () => {
  const entries = layout({});
  const changed = entries.map((entry, at) => (at === entries.length - 1 ? { ...entry, body: 'another' } : entry));
  await expect(read(await archiveOf(changed))).rejects.toEqual(refused(/another digest/));
});

test.each([
  ['is empty', [], /neither an index.json nor a manifest.json/],
  ['lacks a blob', layout({}).slice(0, 2), /is missing/],
  ['lacks a layer', [{ name: 'manifest.json', body: '[{"Config":"c","Layers":[]}]' }], /c is missing/],
  ['has no list', [{ name: 'manifest.json', body: '{}' }], /manifest.json cannot be read/],
] as const)('an archive that %s is refused with the reason', async (_, entries, reason) => {
  await expect(read(await archiveOf(entries))).rejects.toEqual(refused(reason));
});

test('a file that is not there and one that is no archive are refused', async () => {
  const host = await archiveOf([]);
  await expect(readArchive(host.files, '/in/none.tar', '/scratch')).rejects.toEqual(refused(/no such file/));
  await host.files.write('/in/images.tar', Buffer.alloc(2000, 7));
  await expect(read(host)).rejects.toEqual(refused(/no tar file/));
});
