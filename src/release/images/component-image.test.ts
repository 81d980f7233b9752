import { beforeEach, describe, expect, test } from 'vitest';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import { readComponents } from './component-image.ts';
import { writeArchive } from './oci-archive.ts';
import { blobFolder, type OciImage, writeImage, writeIndex } from './oci-image.ts';

let host: FakeHost;
let image: OciImage;

function imageFor(architecture: string, text: string): Promise<OciImage> {
  return writeImage(host.files, '/layout', {
    name: 'elsewhere.test/operator',
    tag: 'v7',
    config: { architecture, entrypoint: ['/operator'] },
    layers: [{ operator: { kind: 'text', text, mode: 0o755 } }],
  });
}

beforeEach(async () => {
  host = fakeHost();
  await host.files.makeFolder('/layout');
  await host.files.makeFolder('/scratch');
  image = await imageFor('amd64', 'one');
  await writeIndex(host.files, '/layout', [image]);
});

const read = (path: string, component = 'ingress') => readComponents(host, [{ component, path }], '/scratch');

describe('the image of a component', () => {
  test('is found in a layout and in the tar file of one, by the same digest', async () => {
    await writeArchive(host.files, '/layout', '/image.tar');
    for (const path of ['/layout', '/image.tar'])
      expect(await read(path)).toMatchObject([{ component: 'ingress', digest: image.digest }]);
  });

  test('is that of this processor where there are several', async () => {
    const other = await imageFor('arm64', 'two');
    const platform = (architecture: string) => ({ os: 'linux', architecture });
    const row = (each: OciImage, architecture: string) => ({
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      digest: `sha256:${each.digest}`,
      size: each.manifestBytes,
      platform: platform(architecture),
    });
    const manifests = [row(other, 'arm64'), row(image, 'amd64')];
    await host.files.write('/layout/index.json', JSON.stringify({ schemaVersion: 2, manifests }));
    expect(await read('/layout')).toMatchObject([{ digest: image.digest }]);
  });

  const refused: readonly (readonly [what: string, prepare: () => Promise<void>, reason: RegExp])[] = [
    ['that is not there', () => host.files.remove('/layout'), /there is no such file/],
    [
      'for another processor',
      async () => writeIndex(host.files, '/layout', [await imageFor('arm64', 'two')]),
      /it is for linux\/arm64, this release is for linux\/amd64/,
    ],
    [
      'beside another one',
      async () => writeIndex(host.files, '/layout', [image, await imageFor('amd64', 'two')]),
      /it has 2 images for linux\/amd64; one is needed/,
    ],
    [
      'with a damaged blob',
      () => host.files.write(`/layout/${blobFolder}/${image.layers[0]?.digest}`, 'x'),
      /has another digest or size/,
    ],
    ['in a folder of other things', () => host.files.remove('/layout/index.json'), /it is no OCI layout/],
    [
      'in a file of other things',
      async () => {
        await host.files.remove('/layout');
        await host.files.write('/layout', 'no archive at all, but long enough to be looked at'.repeat(50));
      },
      /it is no tar file|it is no OCI layout/,
    ],
  ];
  test.each(refused)('%s is refused by name and reason', async (_what, prepare, reason) => {
    await prepare();
    await expect(read('/layout')).rejects.toMatchObject({
      code: 'RELEASE_COMPONENT',
      message: expect.stringMatching(reason) as string,
      hint: expect.stringContaining('--component ingress=FILE') as string,
    });
  });

  test('belongs to a component that is rendered', async () => {
    await expect(read('/layout', 'coredns')).rejects.toMatchObject({ code: 'RELEASE_UNKNOWN_NAME' });
  });

  test('is one for each component', async () => {
    const twice = [1, 2].map(() => ({ component: 'ingress', path: '/layout' }));
    await expect(readComponents(host, twice, '/scratch')).rejects.toMatchObject({ code: 'RELEASE_COMPONENT' });
  });
});
